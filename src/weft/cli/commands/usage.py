"""`weft usage`: what a job used while it ran."""

import asyncio
from collections.abc import Sequence

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.targets import parse_target
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_json, print_table
from weft.client.api import Api, Document
from weft.core.amounts import duration, size
from weft.core.errors import BadId

ROWS_MAX = 20
Row = tuple[str, str, str, str]


def usage(target: str, /, *, attempt: int | None = None, shared: Shared = SHARED) -> int:
    """Show the CPU time and memory of a job while it ran, or while it runs.

        weft usage b12.j7
        weft usage b12.j7 --attempt 1 --json

    A worker takes a sample every 5 s (`usage_sample_s`).

    The table shows some of them, `--json` all that are kept.

    Args:
        target: `b12.j7`.
        attempt: Number of the attempt; default: the last one.
        shared: Options of every command.
    """
    which = parse_target(target)
    if which.job_id is None:
        raise BadId(target, expected="a job is written b12.j7")
    return asyncio.run(_show(shared, which.batch_id, which.job_id, attempt))


async def _show(shared: Shared, batch_id: int, job_id: int, attempt: int | None) -> int:
    async with shared.client() as client:
        number = await _last_attempt(client, batch_id, job_id) if attempt is None else attempt
        found = await client.attempt_usage(batch_id, job_id, number)
    if shared.json:
        print_json(found)
        return 0
    samples = found["samples"]
    if not samples:
        note("there are no samples: it was too short, or its runner measures nothing")
        return 0
    print_table(("After", "Cores", "CPU", "Memory"), rows_of(samples), right=("Cores",))
    return 0


async def _last_attempt(client: Api, batch_id: int, job_id: int) -> int:
    """Return the last attempt of a job; the first one if there is none, which the server tells."""
    job = await client.get_job(batch_id, job_id)
    return int(job.get("attempt") or 1)


def rows_of(samples: Sequence[Document]) -> list[Row]:
    """Return some of these samples, the last one included, with the cores used in between."""
    step = -(-len(samples) // ROWS_MAX)
    shown = samples[::-1][::step][::-1]
    rows: list[Row] = []
    at_ms = cpu_ms = 0
    for one in shown:
        took_ms = max(1, one["at_ms"] - at_ms)
        cores = (one["cpu_ms"] - cpu_ms) / took_ms
        at_ms, cpu_ms = one["at_ms"], one["cpu_ms"]
        rows.append((duration(at_ms), f"{cores:.2f}", duration(cpu_ms), size(one["memory_bytes"])))
    return rows
