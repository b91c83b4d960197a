"""`weft audit`: prove that all derived data is right."""

from weft.cli.input.options import LOCAL, Local
from weft.cli.input.settings import settings_of
from weft.cli.terminal.screen import note, one_line, print_columns, print_json, print_table
from weft.core.text.amounts import counted

ROWS_SHOWN = 10
MACHINES_CHECK = "machines_belong_to_pools"
MACHINE_HEADER = ("Machine", "Provider", "State", "Owner")


def audit(*, shared: Local = LOCAL) -> int:
    """Recompute all derived data and print each check; exit code 1 if one fails.

        weft audit --json

    If providers have made machines, all of them are listed with their owners.
    """
    from weft.run.admin import ask_owner, run_audit  # noqa: PLC0415 (heavy: the server's side)

    findings = run_audit(settings_of(shared))
    machines = ask_owner(settings_of(shared), lambda admin: admin.machines())
    broken = [one for one in findings if one.rows]
    if shared.json:
        listed = {MACHINES_CHECK: {"machines": machines}}
        print_json(
            [
                {"check": one.check, "rows": one.rows, **listed.get(one.check, {})}
                for one in findings
            ]
        )
        return 1 if broken else 0
    print_columns({
        "Check": lambda row: row.check,
        "Result": lambda row: f"{len(row.rows)} wrong" if row.rows else "ok",
    }, findings)  # fmt: skip
    found = "no differences" if not broken else f"differences in {len(broken)}"
    note(f"{counted(len(findings), 'check')}, {found}")
    for one in broken:
        print(f"\n{one.check}:")
        header = list(one.rows[0])
        shown = [[one_line(row.get(name), width=80) for name in header] for row in one.rows]
        print_table(header, shown[:ROWS_SHOWN])
        if len(shown) > ROWS_SHOWN:
            print(f"… and {len(shown) - ROWS_SHOWN} more; --json prints them all")
    if machines:
        print()
        listed_rows = [
            (one_line(one["machine"], width=64), one["provider"], one["state"], one["owner"])
            for one in machines
        ]
        print_table(MACHINE_HEADER, listed_rows, spare=("Provider",))
    return 1 if broken else 0
