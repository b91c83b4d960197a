"""Dates and times: timers, periods that are folded, watermarks and forecasts."""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.forecast import ForecastFacts, Promise, promise
from weft.core.loop_periods import (
    FEW_DELTAS,
    JOBS_PER_S,
    LONGER_S,
    LONGEST_S,
    SHARE_MAX,
    SHORTEST_S,
    SOONEST_S,
    delay_s,
    next_fold_period_s,
    sweep_pause_s,
)
from weft.core.watermark import Watermark
from weft.core.why import PoolFacts

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_timer_rings_when_the_worker_is_due() -> None:
    assert delay_s(NOW + timedelta(seconds=12.5), NOW, longest_s=30) == 12.5


@given(st.timedeltas(timedelta(days=-400), timedelta(days=400)), st.floats(10, 86400))
def test_a_wrong_clock_neither_spins_nor_sleeps_beyond_the_grace(
    off_by: timedelta, grace_s: float
) -> None:
    assert SOONEST_S <= delay_s(NOW + off_by, NOW, longest_s=grace_s) <= grace_s


def test_a_date_without_a_limit_is_waited_for() -> None:
    assert delay_s(NOW + timedelta(days=1), NOW, longest_s=math.inf) == 86400


WANTED_PER_S = 20_000


@given(st.floats(0, 100), st.integers(0, 10**9), st.floats(0, 10))
def test_folding_takes_no_more_than_its_share_or_comes_in_time(
    previous_s: float, deltas: int, took_s: float
) -> None:
    pause_s = next_fold_period_s(previous_s, deltas=deltas, took_s=took_s)

    assert SHORTEST_S <= pause_s <= LONGEST_S
    assert pause_s == LONGEST_S or took_s <= (took_s + pause_s) * SHARE_MAX + 1e-9


def test_few_deltas_are_folded_often_and_after_a_while_less_so() -> None:
    pauses, pause_s = [], 0.0
    for _ in range(30):
        pause_s = next_fold_period_s(pause_s, deltas=FEW_DELTAS - 1, took_s=0.001)
        pauses.append(pause_s)

    assert pauses[0] == SHORTEST_S
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGER_S
    assert next_fold_period_s(LONGEST_S, deltas=FEW_DELTAS - 1, took_s=0.001) == LONGER_S


def test_pause_doubles_up_to_the_longest_under_load() -> None:
    pauses, pause_s = [], 0.0
    for _ in range(6):
        pause_s = next_fold_period_s(pause_s, deltas=50_000, took_s=0.002)
        pauses.append(pause_s)

    assert pauses == [0.05, 0.1, 0.2, 0.4, 0.5, 0.5]


@given(st.integers(1, 10_000), st.floats(0, 10))
def test_a_sweep_is_neither_faster_nor_much_slower_than_it_should_be(
    jobs: int, took_s: float
) -> None:
    pause_s = sweep_pause_s(jobs, took_s=took_s)

    assert pause_s >= 0
    assert jobs / max(took_s + pause_s, 1e-9) <= JOBS_PER_S * 1.001
    if pause_s:
        assert jobs / (took_s + pause_s) > WANTED_PER_S


class Model:
    """The same by its definition, with everything that ever came."""

    def __init__(self) -> None:
        self.delivered: list[int] = []
        self.done: set[int] = set()

    @property
    def position(self) -> int | None:
        """Look at every record."""
        found = None
        for offset in self.delivered:
            if offset not in self.done:
                break
            found = offset + 1
        return found

    @property
    def in_flight(self) -> list[int]:
        """Return the offsets that are not done."""
        return [offset for offset in self.delivered if offset not in self.done]


GAPS = st.lists(st.integers(1, 4), max_size=40)
"""From each offset to the next one: transactions and compaction leave holes."""


@given(st.integers(0, 2**62), GAPS, st.data())
def test_a_position_has_nothing_behind_it_that_is_not_done(
    first: int, gaps: list[int], data: st.DataObject
) -> None:
    mark, model, following = Watermark(), Model(), first
    waiting = list(gaps)
    while waiting or model.in_flight:
        if waiting and (not model.in_flight or data.draw(st.booleans())):
            following += waiting.pop()
            assert mark.deliver(following)
            model.delivered.append(following)
        else:
            done = data.draw(st.sampled_from(model.in_flight))
            assert mark.finish(done)
            model.done.add(done)
        assert mark.position == model.position
        assert mark.smallest == next(iter(model.in_flight), None)
        assert len(mark) == len(model.in_flight)
        behind = range(model.in_flight[0], following + 1) if model.in_flight else ()
        assert mark.held_up == len(set(behind) - set(model.in_flight))


@given(st.permutations(range(30)))
def test_when_all_are_done_the_position_is_the_end(order: list[int]) -> None:
    mark = Watermark()
    for offset in range(30):
        mark.deliver(offset)
    positions = []
    for offset in order:
        mark.finish(offset)
        positions.append(mark.position or 0)

    assert positions == sorted(positions)
    assert positions[-1] == 30
    assert mark.smallest is None


def test_what_is_delivered_or_done_again_changes_nothing() -> None:
    mark = Watermark()
    mark.deliver(3)
    mark.deliver(4)
    mark.finish(4)

    assert not mark.deliver(3)
    assert not mark.deliver(4)
    assert not mark.finish(4)
    assert not mark.finish(99)
    assert (mark.position, mark.smallest, mark.held_up) == (None, 3, 1)


def test_a_record_behind_a_running_one_is_not_committed() -> None:
    mark = Watermark()
    for offset in (5, 6, 9):
        mark.deliver(offset)
    mark.finish(5)
    mark.finish(9)

    assert mark.position == 6


def forecast(own: list[float], **facts: Any) -> Promise | None:  # noqa: ANN401 (fields of ForecastFacts)
    usual: dict[str, Any] = {"n_waiting": 1, "n_running": 0, "elapsed": (), "running": ()}
    pool = PoolFacts("p", cpu_active=4, free=not facts.get("before"))
    return promise(ForecastFacts(**{**usual, **facts}, own=own, cpu_m=1000, pool=pool))


@cases("draw", [lambda rng: rng.lognormvariate(3, 0.6), lambda rng: rng.gauss(60, 5)])
def test_intervals_hold_of_jobs_that_are_alike(draw: Callable[[Random], float]) -> None:
    """Of a batch, and of one that waits or has run for 20 s."""
    rng, held = Random(1), []  # noqa: S311 (draws)
    for _ in range(40):
        own = [draw(rng) for _ in range(30)]
        left = next(filter(lambda seconds: seconds > 20, iter(lambda: draw(rng), None))) - 20
        many = sum(draw(rng) for _ in range(100))
        for came, facts in (
            (draw(rng), {}),
            (many, {"n_waiting": 100}),
            (left, {"n_waiting": 0, "n_running": 1, "elapsed": (20.0,)}),
        ):
            if found := forecast(own, **facts):
                held.append(found.work.low <= came <= found.work.high)
    assert 0.8 <= sum(held) / len(held) <= 0.98, (sum(held), len(held))
    assert len(held) >= 80


def test_little_is_known_of_few_and_of_what_differs() -> None:
    """Before any own job has ended, like batches say how it may be; what is before it delays."""
    assert forecast([10.0] * 4) is None
    assert forecast([0.0, 1, 10, 900, 80_000], n_waiting=50) is None
    after = forecast([10.0] * 30, before=40)
    assert after is not None and after.starts is not None  # noqa: PT018
    assert 102 <= after.starts.low <= after.starts.high < after.ends.high < 120 + 20
    two_kinds = forecast([], like=[[10.0] * 10, [60.0] * 10])
    assert two_kinds is not None and two_kinds.ends.low < 20  # noqa: PT018
    assert two_kinds.ends.high > 50
