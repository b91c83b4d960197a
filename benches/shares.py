"""Ends of 100,000 parents of which a share must succeed, beside parents that all must.

Two processes claim and complete the parents with the real functions, 100 jobs a call, while a
real driver folds. Each of them is a parent of one child, which waits for 95 % of them or for all.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from benches.sides import measure_sides
from weft.bench.filled_batch import NESTED, Filler
from weft.bench.plan import BenchPlan, BenchProgress
from weft.core.states import SHARE_NEED
from weft.ports.store import JobRows

JOBS: Final = 100_000
ROUNDS: Final = 3
GOAL: Final = 0.9
SHARE: Final = SHARE_NEED - 95


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return ends per second of both kinds of parents."""
    return await measure_sides(
        plan,
        progress,
        _fill,
        jobs=JOBS,
        rounds=ROUNDS,
        goal=GOAL,
        words=("a share", "all"),
        reference="all",
    )


async def _fill(filler: Filler, has_share: bool, count: int) -> None:  # noqa: FBT001 (as `Fill`)
    need = SHARE if has_share else 1
    await filler.fill(count + 1, rows=_rows(filler, count + 1, need))


def _rows(filler: Filler, child: int, need: int) -> Iterator[JobRows]:
    """Yield single jobs; all but the last are parents of that."""
    for bunch in filler.bunches(1, child, NESTED):
        if bunch.first_job + bunch.n_jobs > child:
            parents = range(1, child)
            yield replace(
                bunch,
                edge_child=[child] * len(parents),
                edge_parent=[*parents],
                edge_parent_n=[need] * len(parents),
            )
        else:
            yield bunch
