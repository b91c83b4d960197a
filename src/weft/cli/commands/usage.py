"""`weft usage`: what a job used while it ran."""

from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.screen import note, print_table
from weft.core.billing.usage_points import UsagePoint, points_of
from weft.core.ids import parse_job_ref
from weft.core.text.amounts import duration, size
from weft.wire.usage_format import UsageSample

ROWS_MAX = 20


async def usage(target: str, /, *, attempt: int | None = None, shared: Shared = SHARED) -> int:
    """Show the CPU time and memory of a job while it ran, or while it runs.

        weft usage b12.j7
        weft usage b12.j7 --attempt 1 --json

    A worker takes a sample every 5 s (`usage_sample_s`).

    The table shows some of them, `--json` all that are kept.

    Args:
        target: `b12.j7`.
        attempt: Number of the attempt; default: the last one.
    """
    batch_id, job_id = parse_job_ref(target)
    async with shared.client() as client:
        if attempt is None:  # without any the server says so of the first
            attempt = int((await client.get_job(batch_id, job_id)).get("attempt") or 1)
        found = await client.attempt_usage(batch_id, job_id, attempt)
    if shared.as_json(found):
        return 0
    samples = found["samples"]
    if not samples:
        note("there are no samples: it was too short, or its runner measures nothing")
        return 0
    points = points_of([UsageSample(**sample) for sample in samples], most=ROWS_MAX)
    print_table(("After", "Cores", "CPU", "Memory"), map(_row, points), right=("Cores",))
    return 0


def _row(point: UsagePoint) -> tuple[str, str, str, str]:
    cores, cpu = f"{point.cores:.2f}", duration(point.cpu_ms)
    return duration(point.at_ms), cores, cpu, size(point.memory_bytes)
