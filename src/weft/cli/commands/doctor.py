"""`weft doctor`: find problems and repairs; `weft audit`: prove that derived data is right."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from weft.cli.input.options import LOCAL, Local, Parameter, WrongOption
from weft.cli.input.settings import NO_LINK_OPTIONS, LinkOptions, settings_of
from weft.cli.terminal.incidents import print_findings
from weft.cli.terminal.screen import note, one_line, print_columns, print_json, print_table
from weft.client.http.blocking import run
from weft.core.findings import Finding
from weft.core.text.amounts import counted
from weft.settings import Settings


def doctor(
    *,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")] = False,
    report: Path | None = None,
    link: LinkOptions = NO_LINK_OPTIONS,
    shared: Local = LOCAL,
) -> int:
    """Check installation, home, server, database, disk and kernel; exit code 1 if something is
    wrong. `off` marks what is not there and nobody has asked for. With `--connect`: whether a
    worker outside could work from here: reach, TLS, clock, token and version.

        weft doctor --quiet
        weft doctor --connect https://weft.example.org --token-file node.token
        weft doctor --report weft-report.txt

    Args:
        quiet: Print only what is wrong or may become so.
        report: New file for whoever helps: findings, versions, settings, the last lines of the
            roles' logs, and nothing that is secret.
        link: What a worker outside would be started with.
    """
    from weft.run.doctor import examine  # noqa: PLC0415 (heavy: the server's side)

    settings = settings_of(shared, link)
    findings = examine(settings) if link.connect is None else run(_outside(settings))
    shown = [finding for finding in findings if not quiet or finding.verdict not in {"ok", "off"}]
    if not shared.as_json([asdict(finding) for finding in shown]):
        print_findings(shown)
    if report is not None:
        _write(report, settings, findings)
    return 1 if any(finding.verdict == "wrong" for finding in findings) else 0


def _write(file: Path, settings: Settings, findings: list[Finding]) -> None:
    from weft.run.report import write_report  # noqa: PLC0415 (as above)

    try:
        write_report(file, settings, findings)
    except OSError as error:
        raise WrongOption(
            f"--report: cannot write {file}",
            detail=f"{error.strerror}.",
            hint="Name a new file in a directory that there is.",
        ) from error
    note(f"{file} is written: read it before you pass it on")


async def _outside(settings: Settings) -> list[Finding]:
    from weft.ports.extension import workers_outside  # noqa: PLC0415 (as above)
    from weft.ports.plugins import loaded  # noqa: PLC0415 (as above)

    return [finding async for finding in loaded(workers_outside().examined)(settings)]


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
    print_columns(
        {
            "Check": lambda row: row.check,
            "Result": lambda row: f"{len(row.rows)} wrong" if row.rows else "ok",
        },
        findings,
    )
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
