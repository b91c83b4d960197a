"""`weft billing report`: what billing projects cost, by whom and for what."""

import sys
from collections.abc import Sequence
from datetime import date
from typing import Annotated

from weft.cli.input.options import SHARED, Parameter, Shared, WrongOption, read_option
from weft.cli.terminal.screen import Document, note, one_line, plain, print_json, print_table
from weft.core.billing.rates import UNITS_OF_A_PRICE, hours_used, written_hours
from weft.core.billing.reports import Division, csv_of, parse_division
from weft.core.text.amounts import money

TITLES = {"project": "Project", "user": "User", "day": "Day", "resource": "Resource"}


def report(
    *,
    by: str = "project",
    since: str | None = None,
    until: str | None = None,
    project: str | None = None,
    as_csv: Annotated[bool, Parameter(name="--csv", negative="")] = False,
    shared: Shared = SHARED,
) -> None:
    """Report what your billing projects cost, or those of the tenant for its operators.

        weft billing report --by user --since 2026-11-01 --until 2026-11-30
        weft billing report --by attribute=cohort --csv

    Args:
        by: project, user, day, resource or attribute=KEY: an attribute of batches.
        since: Only usage of this date (UTC) or later.
        until: Only usage of this date (UTC) or earlier.
        project: Only this billing project.
        as_csv: Print CSV for spreadsheets, with exact costs and usage.
    """
    if as_csv and shared.json:
        raise WrongOption("--csv and --json both say how to print", hint="Give one of them.")
    division = read_option("--by", by, parse_division)
    first_day = None if since is None else read_option("--since", since, _day)
    last_day = None if until is None else read_option("--until", until, _day)
    found = shared.ask(
        lambda client: client.billing_report(by, project=project, since=first_day, until=last_day)
    )
    if shared.json:
        print_json(found)
    elif as_csv:
        print_csv(division.title, found["items"])
    elif found["items"]:
        _print(division, found)
    else:
        note("nothing was used in this period")


def print_csv(title: str, rows: Sequence[Document]) -> None:
    """Print a report as CSV; on a terminal its texts steer nothing."""
    text = csv_of(title, rows)
    sys.stdout.write(plain(text.replace("\r\n", "\n")) if sys.stdout.isatty() else text)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{text[:40]!r} is not a date such as 2026-01-31") from error


def _print(division: Division, found: Document) -> None:
    title = TITLES.get(division.by) or one_line(division.title, width=40)
    header = (title, "Cost", "Core h", "GiB h", "GiB h of disk", "GPU h")
    print_table(header, [_row(one) for one in found["items"]], right=header[1:])
    note(f"cost of all: {money(float(found['cost']))}")


def _row(row: Document) -> tuple[str, ...]:
    used = {one["resource"]: one["usage"] for one in row["cost_by_resource"]}
    name = {"none": "(no value)", "unknown": "(unknown)"}.get(row["kind"])
    return (
        name or one_line(row["name"], width=40),
        money(float(row["cost"])),
        *(written_hours(hours_used(name, used.get(name, 0))) for name in UNITS_OF_A_PRICE),
    )
