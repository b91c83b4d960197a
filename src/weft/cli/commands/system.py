"""`weft system`: what runs for all tenants, on what, is it well; `weft minutes`: its last hour."""

import sys
from typing import Annotated

from weft.cli.input.options import SHARED, Parameter, Shared, bounded
from weft.cli.terminal.incidents import print_findings
from weft.cli.terminal.plain import one_line, wrapped
from weft.cli.terminal.screen import (
    Document,
    at,
    moment,
    print_columns,
    print_facts,
    print_table,
    text,
)
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
    print_columns(
        {
            "Role": lambda row: row["role"] + ", leads" * row["leads"],
            "Process": "pid",
            "Host": text("host", 40),
            "Version": lambda row: row["version"] or "earlier",
            "Connections": "n_connections",
            "Since": at("since"),
            "Heard": at("heard_at"),
        },
        found["processes"],
        right=("Connections",),
        spare=("Since", "Connections"),
    )
    database = found["database"]
    print()
    print_facts(
        {
            "Database": f"{one_line(database['name'], width=64)}, PostgreSQL "
            f"{database['server_version']}",
            "Since": moment(database["started_at"]),
            "Size": size(database["bytes"]),
            "Dead rows": f"{database['n_dead']:,} in {counted(database['n_tables'], 'table')}",
            "Last audit": _audit(found["audit"]),
        }
    )
    print()
    print_columns(
        {
            "Table": "name",
            "Size": lambda row: size(row["bytes"]),
            "Rows": lambda row: f"{row['n_rows']:,}",
            "Dead": lambda row: f"{row['n_dead']:,}",
            "Vacuumed": at("vacuumed_at"),
        },
        database["tables"][:TABLES_SHOWN],
        right=("Size", "Rows", "Dead"),
        spare=("Vacuumed",),
    )
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


MINUTE_HEADER = ("Minute", "Waiting", "Running", "Succeeded", "Failed", "Cancelled")
_COUNTS = ("n_waiting", "n_running", "n_succeeded", "n_failed", "n_cancelled")
KEPT = 60


def minutes(
    *,
    last: Annotated[int, Parameter(name=["--last", "-n"], validator=bounded(1, KEPT))] = KEPT,
    shared: Shared = SHARED,
) -> None:
    """Show how many jobs waited and ran at the end of each of the last minutes, and how many ended
    in it.

        weft minutes --last 10

    It counts the jobs of your own batches; for operators and administrators
    those of all.

    Args:
        last: How many minutes; 60 are kept.
    """
    found = shared.ask(lambda client: client.list_minutes())[-last:]
    if shared.as_json(found):
        return
    rows = [(moment(one["at"])[:-3], *(f"{one[name]:,}" for name in _COUNTS)) for one in found]
    print_table(MINUTE_HEADER, rows, right=MINUTE_HEADER[1:])
