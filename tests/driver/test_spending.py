"""The loop that keeps billing projects within their limits."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from cases import cases
from driver.fake_store import FakeDriverStore, run_until
from weft.core.billing.spending import Measure, Spending, Stage
from weft.driver.loops import spending
from weft.ports.store.queries import Admitted, Limit
from weft.settings import Settings

TICK_S = 5


def limit(spent: int, *, cost_per_hour: int = 0, is_new: bool = False, **more: Any) -> Limit:  # noqa: ANN401 (of `Spending`)
    one = Spending(
        amount_max=Decimal(100),
        amount_soft_max=Decimal(80),
        used=Decimal(spent),
        used_per_hour=Decimal(cost_per_hour),
        stage=Stage.BELOW,
        **more,
    )
    return Limit(7, 1, is_new, "project", "genomics", Measure.COST, "acme", "pause", one)


@pytest.mark.parametrize(("took_s", "gap_s"), [(0.001, spending.GAP_S), (0.1, 1), (3, 5)])
def test_looks_are_a_small_part_of_the_time(took_s: float, gap_s: float) -> None:
    """And yet there is one in each interval."""
    assert spending.gap_s(took_s, 5) == pytest.approx(gap_s)


def per_tick(amount: int) -> Decimal:
    """Return the rate that uses an amount within a tick."""
    return Decimal(amount * 3600) / TICK_S


async def looked(store: FakeDriverStore, until: str = "weigh_users", times: int = 1) -> None:
    """Let the loop look once."""
    await run_until(
        store, spending.LOOP, until, times, settings=Settings(spending_interval_s=TICK_S)
    )


@cases(
    ("found", "judged"),
    [
        (limit(10), []),
        (limit(10, is_new=True), [(7, Stage.BELOW, False)]),
        (limit(90), [(7, Stage.SLOWED, False)]),
        (limit(90, cost_per_hour=7200), [(7, Stage.REACHED, False)]),
        (limit(61, could_use_per_hour=per_tick(12)), []),
        (limit(61, could_use_per_hour=per_tick(13)), [(7, Stage.BELOW, True)]),
        (limit(60, near=True, could_use_per_hour=per_tick(8)), []),
        (limit(60, near=True, could_use_per_hour=per_tick(7)), [(7, Stage.BELOW, False)]),
        (limit(60, near=True), []),  # no worker is there
    ],
)
async def test_decision_is_stored_when_it_is_news(
    found: Limit, judged: list[tuple[int, Stage, bool]]
) -> None:
    store = FakeDriverStore()
    store.limits = [found]
    store.admitted = [Admitted(7, 1, is_short=False)]
    await looked(store)

    assert store.judged == judged


async def test_limit_near_its_end_admits_what_fits_until_the_second_look() -> None:
    """What is left for two ticks, less what runs and what was admitted."""
    store = FakeDriverStore()
    more: dict[str, Any] = {"near": True, "could_use_per_hour": per_tick(50)}
    store.limits = [
        limit(70, cost_per_hour=int(per_tick(10)), admitted_per_hour=per_tick(2), **more)
    ]
    store.admitted = [Admitted(7, 3, is_short=True)]
    await looked(store)

    assert store.rooms == [{7: per_tick(3)}]
    assert store.judged == []


@pytest.mark.parametrize(
    "more", [{"is_new": True, "could_use_per_hour": 9}, {"near": False}, {"cost_per_hour": 36_000}]
)
async def test_first_look_and_limit_far_or_at_its_end_admit_nothing(more: dict[str, Any]) -> None:
    """What started since the look that found it near is counted by the next one."""
    store = FakeDriverStore()
    store.limits = [limit(60, **{"near": True, "could_use_per_hour": per_tick(50), **more})]
    await looked(store)

    assert store.rooms == []


@pytest.mark.parametrize(
    ("cost_per_hour", "admitted_per_hour", "is_reached"),
    [(0, 0, True), (1, 0, False), (0, 1, False)],
)
async def test_limit_is_reached_when_nothing_fits_that_waits(
    cost_per_hour: int, admitted_per_hour: int, *, is_reached: bool
) -> None:
    """And nothing runs or may start."""
    store = FakeDriverStore()
    store.limits = [
        limit(
            60,
            near=True,
            could_use_per_hour=per_tick(50),
            cost_per_hour=cost_per_hour,
            admitted_per_hour=Decimal(admitted_per_hour),
        )
    ]
    store.admitted = [Admitted(7, 0, is_short=True)]
    await looked(store)

    assert store.judged == [(7, Stage.REACHED, False)] * is_reached


async def test_limit_that_comes_near_its_end_is_looked_at_again() -> None:
    """This look admits nothing, and perhaps nothing else will ring the loop."""
    store = FakeDriverStore()
    store.limits = [limit(60, is_new=True, could_use_per_hour=per_tick(50))]
    async with asyncio.timeout(5):
        await looked(store, "limit_rounds", 2)
