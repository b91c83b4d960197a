"""`weft billing`: costs and prices."""

import sys
from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any

from weft.cli.commands.project import app as project_app
from weft.cli.commands.project import limits_of
from weft.cli.input.options import (
    SHARED,
    App,
    Flag,
    Parameter,
    Shared,
    WrongOption,
    bounded,
    in_our_zone,
    read_option,
)
from weft.cli.terminal.screen import (
    Document,
    moment,
    note,
    one_line,
    plain,
    print_json,
    print_table,
)
from weft.core.billing.rates import UNITS_OF_A_PRICE, hours_used, written_hours
from weft.core.billing.reports import Division, csv_of, parse_division
from weft.core.errors import Invalid
from weft.core.text.amounts import duration, money
from weft.settings import load_settings

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
        _print_report(division, found)
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


def _print_report(division: Division, found: Document) -> None:
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


app = App(
    name="billing",
    help="Show costs and prices of billing projects.\n\n    weft billing days default",
)
app.command(project_app)
app.command(report)


class NoPrice(Invalid, code="CLI.NO_PRICE"):
    """New prices without any."""

    advice = "Name at least one: --cpu, --memory, --storage, --gpu or --machine."


class PricesMixed(Invalid, code="CLI.PRICES_MIXED"):
    """Prices of machines and of what jobs use in one command."""

    advice = "Run the command twice, once with --machine alone."


RESOURCES = ("cpu", "memory", "storage", "gpu")


@app.default
def projects(*, shared: Shared = SHARED) -> None:
    """List your billing projects and their costs.

    weft billing
    """
    found: Sequence[Document] = shared.ask(lambda client: client.list_projects())
    if not shared.json:
        found = [{**one, "name": _titled(one)} for one in found]
    _print("Project", "name", found, shared)


@app.command
def days(
    project: str = "default",
    /,
    *,
    limit: Annotated[int, Parameter(name=["--limit", "-n"], validator=bounded(1))] = 30,
    shared: Shared = SHARED,
) -> None:
    """List the costs of a billing project by day (UTC), newest first.

        weft billing days default --limit 7

    Args:
        project: Name of the billing project.
        limit: Show at most this number of days.
    """
    found = shared.ask(lambda client: client.list_project_days(project, limit=limit))
    _print("Day", "date", found, shared)


@app.command
def rates(*, shared: Shared = SHARED) -> None:
    """List all prices, newest first: per core, GiB or GPU and hour.

    weft billing rates
    """
    found = shared.ask(lambda client: client.list_rates())
    if shared.as_json(found):
        return
    header = ("Version", "Valid from", "Core h", "GiB h", "GiB h of disk", "GPU h")
    print_table(header, map(_rate_row, found), right=header[2:])
    for card in found:
        for one in card["corrections"]:
            print(_correction_line(card["version"], one))


@app.command(name="set-rates")
def set_rates(
    *,
    cpu: str | None = None,
    memory: str | None = None,
    storage: str | None = None,
    gpu: str | None = None,
    machine: Annotated[tuple[str, ...], Parameter(name="--machine", negative="")] = (),
    valid_from: Annotated[datetime | None, Parameter(name="--from")] = None,
    database: Annotated[str | None, Parameter(name="--database")] = None,
    shared: Shared = SHARED,
) -> None:
    """Set new prices. Attempts claimed earlier keep theirs. Only for the owner of the database.

        weft billing set-rates --cpu 0.02 --from 2027-01-01T00:00:00
        weft billing set-rates --machine burst/small=0.05

    Args:
        cpu: Price of a core hour.
        memory: Price of a GiB hour.
        storage: Price of a GiB hour of disk.
        gpu: Price of a GPU hour.
        machine: Price of a machine per hour as POOL/FLAVOUR=PRICE, from now on; repeatable.
        valid_from: Start of validity, such as 2027-01-01T00:00:00 (default: now).
        database: DSN of the owner of an external PostgreSQL (default: this home's).
    """
    from weft.run.admin import run_add_rates, run_set_machine_prices  # noqa: PLC0415 (heavy)

    settings = load_settings({"home": shared.home, "database": database})
    prices = {"cpu": cpu, "memory": memory, "storage": storage, "gpu": gpu}
    has_rates = any(price is not None for price in prices.values())
    if machine and (has_rates or valid_from):
        raise PricesMixed(
            "prices of machines are set by themselves",
            detail="They apply from now on, and make no version of the other prices.",
        )
    if machine:
        changed = run_set_machine_prices(settings, machine)
        shared.tell({"changed": changed}, f"prices of machines that changed: {changed}")
        return
    if not has_rates:
        raise NoPrice(
            "no price is given", detail="A version without a new price would change nothing."
        )
    begins = _begin(valid_from)
    version = run_add_rates(settings, prices, begins)
    said = f"set version {version} of the prices; `weft billing rates` lists all"
    shared.tell({"version": version}, said)


@app.command(name="correct-rates")
def correct_rates(
    version: int,
    /,
    *,
    cpu: str | None = None,
    memory: str | None = None,
    storage: str | None = None,
    gpu: str | None = None,
    valid_from: Annotated[datetime | None, Parameter(name="--from")] = None,
    reason: str | None = None,
    dry_run: Flag = False,
    database: Annotated[str | None, Parameter(name="--database")] = None,
    shared: Shared = SHARED,
) -> None:
    """Correct wrong prices. Only for the owner of the database.

        weft billing correct-rates 3 --cpu 0.02 --reason "one zero too few"

    All use at these prices is charged again at the corrected ones, also on past
    bills.

    Args:
        version: The version of the prices, as `weft billing rates` shows it.
        cpu: Price of a core hour.
        memory: Price of a GiB hour.
        storage: Price of a GiB hour of disk.
        gpu: Price of a GPU hour.
        valid_from: Another start of validity, for prices that do not apply yet.
        reason: Why; shown with the prices.
        dry_run: Show what would change, and change nothing.
        database: DSN of the owner of an external PostgreSQL (default: this home's).
    """
    from weft.run.admin import run_correct_rates  # noqa: PLC0415 (heavy: the server's side)

    settings = load_settings({"home": shared.home, "database": database})
    prices = {"cpu": cpu, "memory": memory, "storage": storage, "gpu": gpu}
    begins = _begin(valid_from)
    found = run_correct_rates(settings, version, prices, begins, reason=reason, dry_run=dry_run)
    if shared.as_json(_correction(version, found, dry_run=dry_run)):
        return
    for name, (old, new) in found.prices.items():
        print(f"{name}: {_told(name, old)} → {_told(name, new)}")
    if found.prices and found.n_attempts:
        print(f"attempts at these prices: {found.n_attempts:,}")
    for one in found.costs if found.prices else ():
        name = one_line(one.project, width=40)
        before, after = money(float(one.before)), money(float(one.after))
        print(f"cost of project {name}: {before} → {after}")
    if found.prices and not found.costs:
        note("nothing was used at these prices: no bill changes")
    note(_outcome(version, is_change=bool(found.prices), dry_run=dry_run))


def _correction(version: int, found: Any, *, dry_run: bool) -> Document:  # noqa: ANN401 (of the store)
    return {
        "version": version,
        "dry_run": dry_run,
        "changes": {
            name: {"before": _price(name, old), "after": _price(name, new)}
            for name, (old, new) in found.prices.items()
        },
        "n_attempts": found.n_attempts,
        "costs": [
            {
                "tenant": cost.tenant,
                "project": cost.project,
                "before": float(cost.before),
                "after": float(cost.after),
            }
            for cost in found.costs
        ],
    }


def _outcome(version: int, *, is_change: bool, dry_run: bool) -> str:
    if not is_change:
        return f"version {version} of the prices is like this already"
    if dry_run:
        return f"version {version} of the prices would be corrected; nothing was changed"
    return f"corrected version {version} of the prices; `weft billing rates` lists all"


def _begin(at: datetime | None) -> datetime | None:
    if at is None:
        return None
    return in_our_zone(at, f"--from {at.isoformat()} is not a time at which prices can begin")


def _print(title: str, key: str, found: Sequence[Document], shared: Shared) -> None:
    if not shared.as_json(found):
        header = (title, "Cost", "Core h", "GiB h", "GiB h of disk", "GPU h")
        rows = [_cost_row(key, one) for one in found]
        print_table(header, rows, right=header[1:], empty="nothing was used yet")


def _titled(project: Document) -> str:
    """Write the name of a project with its limits, and whether it is closed."""
    facts = limits_of(project)
    if project["limit_in_s"] is not None:
        facts.append(f"reached in {duration(project['limit_in_s'] * 1000)} at this rate")
    facts += ["closed"] if project["closed"] else []
    name = one_line(project["name"], width=40)
    return f"{name} ({', '.join(facts)})" if facts else name


def _cost_row(key: str, document: Document) -> tuple[str, ...]:
    used = {one["resource"]: one["usage"] for one in document["cost_by_resource"]}
    return (
        one_line(document[key], width=120),
        money(document["cost"]),
        *(written_hours(hours_used(name, used.get(name, 0))) for name in RESOURCES),
    )


def _rate_row(document: Document) -> tuple[str, ...]:
    prices = {
        one["resource"]: one["price"] * UNITS_OF_A_PRICE[one["resource"]]
        for one in document["rates"]
    }
    return (
        str(document["version"]),
        moment(document["valid_from"]) or "the beginning",
        *(f"{prices.get(name, 0):g}" for name in RESOURCES),
    )


def _correction_line(version: int, document: Document) -> str:
    """Write who corrected what, and why: `version 3: cpu 0.2 → 0.02 (typing error), by ada …`."""
    changes = ", ".join(
        f"{name} {_told(name, document['old'][name])} → {_told(name, new)}"
        for name, new in document["new"].items()
    )
    reason = f" ({one_line(document['reason'], width=60)})" if document["reason"] else ""
    by = one_line(document["by"], width=40)
    return f"version {version}: {changes}{reason}, by {by}, {moment(document['at'])}"


def _told(name: str, value: float | str) -> str:
    if name not in UNITS_OF_A_PRICE:
        return moment(str(value))
    return f"{_price(name, value):g}"


def _price(name: str, value: float | str) -> float | str:
    """Return a price per core, GiB or GPU, as it is entered; a date stays as it is."""
    return float(value) * UNITS_OF_A_PRICE[name] if name in UNITS_OF_A_PRICE else value
