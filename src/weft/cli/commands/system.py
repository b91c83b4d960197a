"""`weft system`: what runs for all tenants, on what, and whether it is well."""

import sys
from collections.abc import Mapping
from typing import Any

from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.amounts import moment
from weft.cli.terminal.findings import print_findings
from weft.cli.terminal.plain import one_line
from weft.cli.terminal.screen import print_facts, print_table
from weft.cli.terminal.wrapped import wrapped
from weft.core.findings import Finding
from weft.core.text.amounts import duration, size

Document = Mapping[str, Any]
PROCESS_HEADER = ("Role", "Process", "Host", "Version", "Connections", "Since", "Heard")
TABLE_HEADER = ("Table", "Size", "Rows", "Dead", "Vacuumed")
TABLES_SHOWN = 10


def system(*, shared: Shared = SHARED) -> int:
    """Show the health of the site, its processes, its database, the result of the last audit, and
    settings that are not the default; exit code 1 if something is wrong.

        weft system --json

    Only for administrators of the site. `--json` prints all settings; secrets
    are hidden.
    """
    found = shared.ask(lambda client: client.get_system())
    if not shared.as_json(found):
        _print(found)
    return 1 if any(one["verdict"] == "wrong" for one in found["health"]) else 0


def _print(found: Document) -> None:
    print_findings([Finding(**one) for one in found["health"]])
    print()
    print_table(
        PROCESS_HEADER,
        [_process_row(one) for one in found["processes"]],
        right=("Connections",),
        spare=("Since", "Connections"),
    )
    database = found["database"]
    print()
    print_facts({
        "Database": f"{one_line(database['name'], width=64)}, PostgreSQL "
        f"{database['server_version']}",
        "Since": moment(database["started_at"]),
        "Size": size(database["bytes"]),
        "Dead rows": f"{database['n_dead']:,} in {database['n_tables']} tables",
        "Last audit": _audit(found["audit"]),
    })  # fmt: skip
    print()
    tables = database["tables"][:TABLES_SHOWN]
    print_table(
        TABLE_HEADER, [_table_row(table) for table in tables],
        right=TABLE_HEADER[1:4], spare=("Vacuumed",),
    )  # fmt: skip
    changed = [one for one in found["settings"] if not one["is_default"] or one["driver_value"]]
    print()
    print_table(("Setting", "Value", "The driver's"), [_setting_row(one) for one in changed])
    left = len(found["settings"]) - len(changed)
    print("\n" + wrapped(f"{left} settings have their defaults; --json prints them", sys.stdout))


def _process_row(one: Document) -> tuple[object, ...]:
    return (
        one["role"] + (", leads" if one["leads"] else ""),
        one["pid"],
        one_line(one["host"] or "", width=40),
        one["version"] or "earlier",
        one["n_connections"],
        moment(one["since"]),
        moment(one["heard_at"]),
    )


def _table_row(one: Document) -> tuple[object, ...]:
    return (
        one["name"],
        size(one["bytes"]),
        f"{one['n_rows']:,}",
        f"{one['n_dead']:,}",
        moment(one["vacuumed_at"]),
    )


def _setting_row(one: Document) -> tuple[object, ...]:
    return one["name"], one["value"], one["driver_value"]


def _audit(audit: Document | None) -> str:
    if audit is None:
        return "none is recorded"
    took = duration(audit["took_ms"])
    return f"{moment(audit['ended_at'])}, {audit['n_checks']} checks in {took}"
