"""`weft system`: what runs for all tenants, on what, and whether it is well."""

import sys

from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.incidents import print_findings
from weft.cli.terminal.plain import moment, one_line, wrapped
from weft.cli.terminal.screen import Document, at, print_columns, print_facts, text
from weft.core.findings import Finding
from weft.core.text.amounts import counted, duration, size

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
    print_columns({
        "Role": lambda row: row["role"] + ", leads" * row["leads"], "Process": "pid",
        "Host": text("host", 40), "Version": lambda row: row["version"] or "earlier",
        "Connections": "n_connections", "Since": at("since"), "Heard": at("heard_at"),
    }, found["processes"], right=("Connections",), spare=("Since", "Connections"))  # fmt: skip
    database = found["database"]
    print()
    print_facts({
        "Database": f"{one_line(database['name'], width=64)}, PostgreSQL "
        f"{database['server_version']}",
        "Since": moment(database["started_at"]),
        "Size": size(database["bytes"]),
        "Dead rows": f"{database['n_dead']:,} in {counted(database['n_tables'], 'table')}",
        "Last audit": _audit(found["audit"]),
    })  # fmt: skip
    print()
    print_columns({
        "Table": "name", "Size": lambda row: size(row["bytes"]),
        "Rows": lambda row: f"{row['n_rows']:,}", "Dead": lambda row: f"{row['n_dead']:,}",
        "Vacuumed": at("vacuumed_at"),
    }, database["tables"][:TABLES_SHOWN], right=("Size", "Rows", "Dead"),
        spare=("Vacuumed",))  # fmt: skip
    changed = [one for one in found["settings"] if not one["is_default"] or one["driver_value"]]
    print()
    print_columns({"Setting": "name", "Value": "value", "The driver's": "driver_value"}, changed)
    left = len(found["settings"]) - len(changed)
    which = f"the defaults of {counted(left, 'setting')} are not shown; --json prints them"
    print("\n" + wrapped(which, sys.stdout))


def _audit(audit: Document | None) -> str:
    if audit is None:
        return "none is recorded"
    took = duration(audit["took_ms"])
    return f"{moment(audit['ended_at'])}, {counted(audit['n_checks'], 'check')} in {took}"
