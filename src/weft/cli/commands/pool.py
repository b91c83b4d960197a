"""`weft pool`: where workers are, and which queues use them."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from cyclopts import App

from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.amounts import size
from weft.cli.terminal.plain import one_line
from weft.cli.terminal.screen import print_json, print_table

app = App(name="pool", help="List pools of workers.\n\n    weft pool ls")

Document = Mapping[str, Any]
HEADER = ("Pool", "Workers", "CPU", "Memory", "Running", "Queues")
LIVE = frozenset({"active", "cordoned", "draining"})


@app.command(name="ls")
def list_pools(*, shared: Shared = SHARED) -> int:
    """List the pools that have workers or queues, with the sums over their live workers.

        weft pool ls

    Args:
        shared: Options of every command.
    """
    found = asyncio.run(_pools(shared))
    if shared.json:
        print_json(found)
        return 0
    rows = [
        (
            one_line(one["pool"], width=40),
            one["n_workers"],
            f"{one['cpu']:g}",
            size(one["memory"]),
            one["n_running"],
            ", ".join(one["queues"]),
        )
        for one in found
    ]
    print_table(HEADER, rows, right=HEADER[1:5], spare=("Queues", "Memory"))
    return 0


async def _pools(shared: Shared) -> Sequence[Document]:
    async with shared.client() as client:
        workers, queues = await client.list_workers(), await client.list_queues()
    return pools_of(workers, queues)


def pools_of(workers: Sequence[Document], queues: Sequence[Document]) -> Sequence[Document]:
    """Return each pool with the sums over its live workers, and its queues in their order."""
    named = {one["pool"] for one in workers} | {pool for one in queues for pool in one["pools"]}
    return [
        {
            "pool": name,
            "n_workers": len(live),
            "cpu": sum(one["cpu"] for one in live),
            "memory": sum(one["memory"] for one in live),
            "n_running": sum(one["n_running"] or 0 for one in live),
            "queues": [one["name"] for one in queues if name in one["pools"]],
        }
        for name in sorted(named)
        for live in [[one for one in workers if one["pool"] == name and one["state"] in LIVE]]
    ]
