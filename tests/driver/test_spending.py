"""The loop that keeps billing projects within their limits."""

import asyncio
from decimal import Decimal

import pytest

from driver.fake_store import FakeDriverStore
from weft.core.spending import Measure, Spending, Stage
from weft.driver.loops import spending
from weft.driver.loops.bell import Bell
from weft.driver.loops.due_date import DueDate
from weft.driver.loops.loop import LoopContext
from weft.ports.store.spending import Limit
from weft.settings import Settings


def limit(spent: int, *, cost_per_hour: int = 0, is_new: bool = False) -> Limit:
    one = Spending(
        amount_max=Decimal(100), amount_soft_max=Decimal(80), used=Decimal(spent),
        used_per_hour=Decimal(cost_per_hour), stage=Stage.BELOW,
    )  # fmt: skip
    return Limit(7, 1, is_new, "project", "genomics", Measure.COST, "acme", "pause", one)


@pytest.mark.parametrize(("took_s", "gap_s"), [(0.001, spending.GAP_S), (0.1, 1), (3, 5)])
def test_looks_are_a_small_part_of_the_time(took_s: float, gap_s: float) -> None:
    """And yet there is one in each interval."""
    assert spending.gap_s(took_s, 5) == pytest.approx(gap_s)


@pytest.mark.parametrize(
    ("found", "judged"),
    [
        (limit(10), []),
        (limit(10, is_new=True), [(7, Stage.BELOW)]),
        (limit(90), [(7, Stage.SLOWED)]),
        (limit(90, cost_per_hour=7200), [(7, Stage.REACHED)]),
    ],
)
async def test_decision_is_stored_when_it_is_news(
    found: Limit, judged: list[tuple[int, Stage]]
) -> None:
    """It looks again after a tick if something runs."""
    store = FakeDriverStore()
    store.limits = [found]
    context = LoopContext(
        store, 0, Settings(spending_interval_s=5), Bell(), DueDate(),
        moved=lambda: None, ring=lambda _: None,
    )  # fmt: skip
    running = asyncio.ensure_future(spending.LOOP.run(context))
    await store.until("apply_limits", 1)
    running.cancel()

    assert store.judged == judged
