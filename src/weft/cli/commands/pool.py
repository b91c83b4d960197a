"""`weft pool`: where workers are, and which queues use them."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from weft.cli.input.declared import ASKED, Applying, apply_file, text_of
from weft.cli.input.options import SHARED, App, Parameter, Shared, bounded
from weft.cli.terminal.names import simulates
from weft.cli.terminal.screen import Document, at, note, one_line, print_columns, print_facts, text
from weft.client.api import Api
from weft.core.billing.resources import MIB
from weft.core.text.amounts import money, size

app = App(name="pool", help="Show and change pools of workers.\n\n    weft pool ls")

LIVE = frozenset({"active", "silent", "cordoned", "draining"})


@app.command(name="ls")
def list_pools(*, shared: Shared = SHARED) -> None:
    """List the pools that are described or have workers or queues, with the sums over their live
    workers.

        weft pool ls
    """
    found = shared.ask(_pools)
    shared.table(
        found,
        {
            "Pool": text("pool", 40),
            "Workers": "n_workers",
            "Machines": lambda row: (
                row["max_workers"] and f"{row['n_machines']}/{row['max_workers']}"
            ),
            "CPU": lambda row: f"{row['cpu']:g}",
            "Memory": lambda row: size(row["memory"]),
            "Running": "n_running",
            "Queues": lambda row: ", ".join(row["queues"]),
        },
        right=("Workers", "Machines", "CPU", "Memory", "Running"),
        spare=("Queues", "Memory"),
    )


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
        print_columns(
            {
                "Machine": text("machine", 64),
                "Flavour": lambda row: (
                    row["flavour"] + ", for one job" * bool(row.get("for_one_job"))
                ),
                "Region": text("region", 40),
                "State": "state",
                "Since": at("changed_at"),
                "Why": lambda row: one_line(_why_text(row), width=80),
            },
            machines,
            spare=("Region", "Flavour", "Why"),
        )


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
    shared.table(
        found,
        {
            "User": text("user", 64),
            "Ready": lambda row: f"{row['n_ready']:,}",
            "Ready cores": lambda row: _cores(row["ready_cpu"]),
            "In use": lambda row: _cores(row["running_cpu"]),
            "Fair": lambda row: _cores(row["fair_cpu"]),
            "Weight": lambda row: f"{row['weight']:g}",
        },
        right=("Ready", "Ready cores", "In use", "Fair", "Weight"),
        empty="nobody whom you see has work in this pool",
    )


def _cores(amount: float | None) -> str:
    return "–" if amount is None else f"{amount:,.1f}"


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
    shared.table(
        found,
        {
            "At": at("at"),
            "Decision": "kind",
            "Machine": text("machine", 64),
            "Why": text("reason", 160),
        },
        spare=("Why",),
        empty="nothing was decided about this pool",
    )


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
    print_columns(
        {
            "Day": "date",
            "Flavour": lambda row: row["flavour"] or "unknown",
            "Machine h": lambda row: f"{row['machine_hours']:,.2f}",
            "Used h": lambda row: f"{row['used_hours']:,.2f}",
            "Cost": lambda row: money(row["cost"]),
            "Idle": lambda row: money(row["idle_cost"]),
        },
        found,
        right=("Machine h", "Used h", "Cost", "Idle"),
    )
    whole, idle = (sum(one[field] for one in found) for field in ("cost", "idle_cost"))
    note(f"{money(whole)} in all, {money(idle)} of it for idle time")


@app.command
def apply(file: Path, /, *, how: Applying = ASKED, shared: Shared = SHARED) -> int:
    """Change the pools to what a file describes: show the difference, ask, change.

        weft pool apply pools.toml

    Nobody makes machines for pools that are not in the file; their workers stay.
    A pool that has machines cannot be left out. Only for administrators.

    Args:
        file: TOML with tables `[[pool]]`.
    """
    return apply_file(
        file,
        "pool",
        lambda client, pools: partial(client.save_pools, pools),
        shared,
        how,
        example='name = "burst", provider = "process", max_workers = 4',
        otherwise="`weft pool ls` lists the pools.",
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
    return ", ".join(
        [
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
        ]
    )


async def _pools(client: Api) -> Sequence[Document]:
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
            "cpu": sum(one["cpu"] for one in live if not simulates(one)),
            "memory": sum(one["memory"] for one in live if not simulates(one)),
            "n_running": sum(one["n_running"] or 0 for one in live),
            "queues": [one["name"] for one in queues if name in one["pools"]],
        }
        for name in sorted(named | described.keys())
        for live in [[one for one in workers if one["pool"] == name and one["state"] in LIVE]]
    ]
