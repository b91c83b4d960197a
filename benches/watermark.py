"""What it costs to follow how far a partition is done: pure code, no broker.

Offsets are delivered in order and done in random order within a window; the position is asked for
once for a thousand records, more often than a consumer does. `weft` is records per second, the
reference 1,000,000. `memory_mib`: the most that was in use beside the random order.
"""

import random
import time
import tracemalloc
from typing import Any, Final

from weft.bench.figures import Headline, document_of, load_average, machine_conditions, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.core.watermark import Watermark

RECORDS: Final = 10_000_000
WINDOW: Final = 100_000
ASKED: Final = 1000
REFERENCE_PER_S: Final = 1_000_000.0
_MIB: Final = 2**20


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the records per second, and the memory."""
    load, count = load_average(), plan.jobs_of(RECORDS)
    window = min(WINDOW, count)
    progress.begin(2)
    progress.step(f"{count:,} records")
    begun = time.perf_counter()
    spent_s = _run(count, window)
    total_s = time.perf_counter() - begun
    progress.step("memory")
    tracemalloc.start()
    _run(min(count, 5 * window), window)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    per_s = count / spent_s
    return document_of(
        Headline("1/s", per_s, REFERENCE_PER_S, ratio_of(per_s, REFERENCE_PER_S)),
        {"memory_mib": round(peak / _MIB, 1), "total_s": round(total_s, 1)},
        machine_conditions(load_before=load, sizes={"records": count, "window": window}),
    )


def _run(count: int, window: int) -> float:
    """Deliver and finish; return the seconds, without those for the order."""
    order = random.Random(1)  # noqa: S311 (an order)
    mark, open_ones, spent_s = Watermark(), list(range(window)), 0.0
    for offset in open_ones:
        mark.deliver(offset)
    following = window
    while following < count:
        size = min(ASKED, count - following)
        places = [order.randrange(window) for _ in range(size)]
        done = []
        for n, place in enumerate(places):
            done.append(open_ones[place])
            open_ones[place] = following + n
        fresh = range(following, following + size)
        begun = time.perf_counter()
        for old, new in zip(done, fresh, strict=True):
            mark.deliver(new)
            mark.finish(old)
        is_behind = (mark.position or 0) <= following
        spent_s += time.perf_counter() - begun
        if not is_behind:
            raise BenchFailed("the position is ahead")
        following += size
    for offset in open_ones:
        mark.finish(offset)
    if mark.position != count:
        raise BenchFailed("the position is not the end")
    return spent_s
