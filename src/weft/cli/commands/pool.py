"""`weft pool`: where workers are, and which queues use them."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from weft.cli.input.bounds import bounded
from weft.cli.input.declared import (
    apply_changes,
    placed,
    read_file,
    refuse_nothing,
    tables_in,
    text_of,
)
from weft.cli.input.options import SHARED, Shared
from weft.cli.input.signature import App, Parameter
from weft.cli.terminal.amounts import moment
from weft.cli.terminal.plain import one_line
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_facts, print_table
from weft.core.billing.resources import MIB
from weft.core.errors import Invalid
from weft.core.text.amounts import money, size

app = App(name="pool", help="Show and change pools of workers.\n\n    weft pool ls")

Document = Mapping[str, Any]
HEADER = ("Pool", "Workers", "Machines", "CPU", "Memory", "Running", "Queues")
LIVE = frozenset({"active", "silent", "cordoned", "draining"})
COST_HEADER = ("Day", "Flavour", "Machine h", "Used h", "Cost", "Idle")
SHARE_HEADER = ("User", "Ready", "Ready cores", "In use", "Fair", "Weight")
MACHINE_HEADER = ("Machine", "Flavour", "Region", "State", "Since", "Why")


class PoolsNotConfirmed(Invalid):
    """The change of pools cannot be confirmed."""

    code = "CLI.POOLS_NOT_CONFIRMED"
    advice = "Add --yes to change them without a question, or --dry-run to see the changes."


@app.command(name="ls")
def list_pools(*, shared: Shared = SHARED) -> None:
    """List the pools that are described or have workers or queues, with the sums over their live
    workers.

        weft pool ls
    """
    found = asyncio.run(_pools(shared))
    if shared.as_json(found):
        return
    rows = [
        (
            one_line(one["pool"], width=40),
            one["n_workers"],
            f"{one['n_machines']}/{one['max_workers']}" if one["max_workers"] else "",
            f"{one['cpu']:g}",
            size(one["memory"]),
            one["n_running"],
            ", ".join(one["queues"]),
        )
        for one in found
    ]
    print_table(HEADER, rows, right=HEADER[1:6], spare=("Queues", "Memory"))


@app.command
def show(name: str, /, *, shared: Shared = SHARED) -> None:
    """Show how a pool grows and shrinks, and the machines that it has.

        weft pool show burst

    Args:
        name: Name of the pool.
    """
    found = shared.ask(lambda client: client.get_pool(name))
    if shared.as_json(found):
        return
    plan = dict(found["plan"] or {})
    flavours = {f"flavour {one['name']}": _flavour_text(one) for one in plan.pop("flavours", ())}
    facts = {field: text_of(value) for field, value in plan.items() if field != "name"}
    print_facts({"pool": found["pool"], **facts, **flavours})
    if not plan:
        note("nobody described this pool, so nobody makes machines for it")
    if machines := found["machine_list"]:
        print()
        rows = [
            (
                one_line(machine["machine"], width=64),
                machine["flavour"] + (", for one job" if machine.get("for_one_job") else ""),
                one_line(machine["region"], width=40),
                machine["state"],
                moment(machine["changed_at"]),
                one_line(_why_text(machine), width=80),
            )
            for machine in machines
        ]
        print_table(MACHINE_HEADER, rows, spare=("Region", "Flavour", "Why"))


@app.command
def shares(name: str, /, *, shared: Shared = SHARED) -> None:
    """Show who runs how much in a pool, what would be fair, and who is served next.

        weft pool shares default

    The fair share is of the cores that are in use now, by weight. You see your
    own line; operators and administrators see all.

    Args:
        name: Name of the pool.
    """
    found = shared.ask(lambda client: client.list_shares(name))
    if not shared.as_json(found):
        empty = "nobody whom you see has work in this pool"
        print_table(SHARE_HEADER, map(_share_row, found), right=SHARE_HEADER[1:], empty=empty)


def _share_row(one: Document) -> tuple[object, ...]:
    amounts = (one[name] for name in ("ready_cpu", "running_cpu", "fair_cpu"))
    cores = ("–" if amount is None else f"{amount:,.1f}" for amount in amounts)
    return one_line(one["user"], width=64), f"{one['n_ready']:,}", *cores, f"{one['weight']:g}"


@app.command
def log(
    name: str,
    /,
    *,
    lines: Annotated[int, Parameter(name=["--lines", "-n"])] = 20,
    shared: Shared = SHARED,
) -> None:
    """Show what was decided about a pool, and why, newest last.

        weft pool log burst

    Args:
        name: Name of the pool.
        lines: How many decisions; the newest 1,000 are kept.
    """
    found = shared.ask(lambda client: client.list_pool_changes(name))[: max(lines, 0)][::-1]
    if shared.as_json(found):
        return
    rows = [
        (moment(one["at"]), one["kind"], one_line(one["machine"] or "", width=64),
         one_line(one["reason"], width=160))
        for one in found
    ]  # fmt: skip
    empty = "nothing was decided about this pool"
    print_table(("At", "Decision", "Machine", "Why"), rows, spare=("Why",), empty=empty)


@app.command
def cost(
    name: str,
    /,
    *,
    days: Annotated[int, Parameter(name=["--days", "-n"], validator=bounded(1))] = 30,
    shared: Shared = SHARED,
) -> None:
    """Show what the machines of a pool cost by day (UTC), and how much of it was idle time.

        weft pool cost burst

    Prices are those of the flavours: `price_per_hour`, or `weft billing set-rates
    --machine`.

    Args:
        name: Name of the pool.
        days: Show at most this number of days.
    """
    found = shared.ask(lambda client: client.list_pool_costs(name))
    shown = sorted({one["date"] for one in found}, reverse=True)[:days]
    found = [one for one in found if one["date"] in shown]
    if shared.as_json(found):
        return
    if not found:
        note("this pool has had no machines")
        return
    rows = [
        (
            one["date"],
            one["flavour"] or "unknown",
            f"{one['machine_hours']:,.2f}",
            f"{one['used_hours']:,.2f}",
            money(one["cost"]),
            money(one["idle_cost"]),
        )
        for one in found
    ]
    print_table(COST_HEADER, rows, right=COST_HEADER[2:])
    whole, idle = (sum(one[field] for one in found) for field in ("cost", "idle_cost"))
    note(f"{money(whole)} in all, {money(idle)} of it for idle time")


@app.command
def apply(
    file: Path,
    /,
    *,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    yes: Annotated[bool, Parameter(negative="")] = False,
    delete_all: Annotated[bool, Parameter(negative="")] = False,
    shared: Shared = SHARED,
) -> int:
    """Change the pools to what a file describes: show the difference, ask, change.

        weft pool apply pools.toml

    Nobody makes machines for pools that are not in the file; their workers stay.
    A pool that has machines cannot be left out. Only for administrators.

    Args:
        file: TOML with tables `[[pool]]`.
        dry_run: Only show the difference.
        yes: Do not ask.
        delete_all: Accept a file that describes no pools.
    """
    body = read_file(file)
    pools = tables_in(
        file,
        body,
        "pool",
        example='name = "burst", provider = "process", max_workers = 4',
        otherwise="`weft pool ls` lists the pools.",
    )
    if not delete_all:
        refuse_nothing(file, "pool", pools)
    with placed(file, body, {"pools": pools}, shared):
        return asyncio.run(_apply(pools, shared, dry_run=dry_run, yes=yes))


async def _apply(pools: Sequence[Document], shared: Shared, *, dry_run: bool, yes: bool) -> int:
    async with shared.client() as client:
        return await apply_changes(
            partial(client.save_pools, pools),
            "pool",
            dry_run=dry_run,
            yes=yes,
            as_json=shared.json,
            refused=PoolsNotConfirmed,
            note_done="the pools are saved",
            text=_field_text,
        )


def _field_text(value: object) -> str:
    if isinstance(value, Mapping) and "memory_mib" in value:
        return _flavour_text(value)
    return text_of(value)


def _why_text(machine: Document) -> str:
    waits = machine.get("waits")
    return f"{machine['provider']} has not begun it: {waits}" if waits else machine["reason"]


def _flavour_text(one: Document) -> str:
    labels = [f"{name}={word}" for name, word in one["labels"].items()]
    return ", ".join([
        f"{one['cpu_m'] / 1000:g} cpu",
        size(one["memory_mib"] * MIB),
        *([f"{size(one['storage_mib'] * MIB)} storage"] if one["storage_mib"] else []),
        *([f"{one['gpus']} gpu"] if one.get("gpus") else []),
        *(f"{count} {name}" for name, count in one.get("countables", {}).items()),
        *labels,
        *(["containers"] if one.get("containers") else []),
        *(["preemptible"] if one["preemptible"] else []),
        *([f"lives {one['walltime_s']} s"] if one.get("walltime_s") else []),
        f"{one['price_per_hour']} per hour",
    ])  # fmt: skip


async def _pools(shared: Shared) -> Sequence[Document]:
    async with shared.client() as client:
        workers, queues = await client.list_workers(), await client.list_queues()
        return pools_of(workers, queues, await client.list_pools())


def pools_of(
    workers: Sequence[Document], queues: Sequence[Document], pools: Sequence[Document] = ()
) -> Sequence[Document]:
    """Return each pool with its machines, the sums over its live workers, and its queues in their
    order. A pool that is not described and that nobody uses any more is left out.
    """
    described = {one["pool"]: one for one in pools if one["plan"] is not None}
    named = {one["pool"] for one in workers} | {pool for one in queues for pool in one["pools"]}
    return [
        {
            "pool": name,
            "n_workers": len(live),
            "n_machines": sum(described[name]["machines"].values()) if name in described else 0,
            "max_workers": described[name]["plan"]["max_workers"] if name in described else 0,
            "cpu": sum(one["cpu"] for one in live),
            "memory": sum(one["memory"] for one in live),
            "n_running": sum(one["n_running"] or 0 for one in live),
            "queues": [one["name"] for one in queues if name in one["pools"]],
        }
        for name in sorted(named | described.keys())
        for live in [[one for one in workers if one["pool"] == name and one["state"] in LIVE]]
    ]
