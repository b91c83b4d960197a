"""How many statuses per second claims and ends bring, beside the same changes without a lifecycle.

Both are what two processes claim and complete with the real functions, 100 jobs a call, while a
real driver folds. The lifecycle has a status for each state, so that each change of the core
brings one: two for a job.
"""

from typing import Any, Final

from benches.sides import measure_sides
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchPlan, BenchProgress
from weft_lines.rules.setup import parse_setup

JOBS: Final = 50_000
ROUNDS: Final = 5
CHANGES: Final = 2
"""Of a job: it starts, and ends."""
GOAL: Final = 0.5
NAME: Final = "bench"
LIFECYCLE: Final = """
[lifecycle.bench]
statuses = ["ready", "started", "done", "broken"]
first = ["ready"]
next = { ready = ["started"], started = ["done", "broken"] }
core = { ready = "ready", started = "running", done = "success", broken = ["failed", "error"] }
"""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return changes per second of both sides."""
    return await measure_sides(
        plan,
        progress,
        _fill,
        jobs=JOBS,
        rounds=ROUNDS,
        goal=GOAL,
        words=("statuses", "the core alone"),
        reference="core",
        unit="changes/s",
        of_job=CHANGES,
    )


async def _fill(filler: Filler, has_statuses: bool, count: int) -> None:  # noqa: FBT001 (as `Fill`)
    if has_statuses:
        store, caller = filler.opened
        await store.save_setup(caller, NAME, LIFECYCLE, parse_setup(LIFECYCLE))
    await filler.fill(count, lifecycle=NAME if has_statuses else None)
