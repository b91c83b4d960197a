"""A job that began before a parent had ended."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from weft.core.graph.start_order import EarlyStart, early_starts

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: int) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def test_start_at_the_end_of_the_last_parent_is_in_time() -> None:
    started = {1: at(0), 2: at(0), 3: at(5)}
    ended = {1: at(4), 2: at(5)}

    assert list(early_starts(started, ended, {3: [1, 2]})) == []


def test_start_before_the_end_of_a_parent_is_told() -> None:
    found = list(early_starts({1: at(0), 2: at(3)}, {1: at(4)}, {2: [1]}))

    assert found == [EarlyStart(2, at(3), 1, at(4))]


def test_start_below_a_parent_that_has_not_ended_is_told() -> None:
    found = list(early_starts({1: at(0), 2: at(3)}, {}, {2: [1]}))

    assert found == [EarlyStart(2, at(3), 1, None)]


def test_job_that_never_began_is_not_early() -> None:
    assert list(early_starts({}, {}, {2: [1]})) == []


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=8))
def test_every_pair_is_looked_at(times: list[tuple[int, int]]) -> None:
    """All jobs wait for the first."""
    started = {job: at(begin) for job, (begin, _) in enumerate(times, 1)}
    ended = {job: at(begin + took) for job, (begin, took) in enumerate(times, 1)}

    found = early_starts(started, ended, {job: [1] for job in range(2, len(times) + 1)})

    assert {one.job_id for one in found} == {
        job for job in range(2, len(times) + 1) if started[job] < ended[1]
    }
