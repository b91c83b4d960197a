"""Which workers are black holes."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.scheduling.black_holes import Ends, find_black_holes, retry_s

START = datetime(2026, 1, 1, tzinfo=UTC)
FAILURES, BATCHES = 4, 2


def end(
    worker: int, at: int, *, batch: int = 1, good: int = 0, fast: int = 0, slow: int = 0
) -> Ends:
    return Ends(
        worker_id=worker, pool_id=1, batch_id=batch, at=START + timedelta(seconds=at),
        successes=good, fast_failures=fast, slow_failures=slow,
    )  # fmt: skip


def found(ends: Sequence[Ends]) -> list[int]:
    newest_first = sorted(ends, key=lambda one: one.at, reverse=True)
    holes = find_black_holes(newest_first, failures_min=FAILURES, batches_min=BATCHES)
    return [one.worker_id for one in holes]


BROKEN = [end(1, at, batch=at, fast=1) for at in (1, 2, 3, 4)]


def test_worker_that_fails_at_once_while_another_succeeds_is_one() -> None:
    (hole,) = find_black_holes(
        [end(2, 9, batch=7, good=1), *reversed(BROKEN)], failures_min=4, batches_min=2
    )

    assert (hole.worker_id, hole.n_failures, hole.n_batches) == (1, 4, 4)
    assert hole.reason.startswith("4 attempts of 4 batches in a row failed at once here")


@cases(
    "ends",
    [
        BROKEN,
        [*BROKEN, end(2, 0, batch=7, good=1)],
        [*BROKEN[:3], end(2, 9, batch=7, good=1)],
        [*BROKEN, end(1, 5, batch=9, good=1), end(2, 9, batch=7, good=1)],
        [*BROKEN, end(1, 4, batch=9, good=1), end(2, 9, batch=7, good=1)],
        [*BROKEN, end(1, 5, batch=9, slow=1), end(2, 9, batch=7, good=1)],
        [end(1, 1, fast=99), end(2, 9, batch=7, good=1)],
        [*BROKEN, *(end(2, at, batch=at, fast=1) for at in (1, 2, 3, 4)), end(3, 9, good=1)],
    ],
)  # fmt: skip
def test_others_are_not(ends: list[Ends]) -> None:
    assert found(ends)[:1] != [1]


def test_batch_that_succeeds_somewhere_is_not_the_reason() -> None:
    """Two broken workers do not hide each other."""
    both = [end(worker, at, batch=at, fast=1) for worker in (1, 2) for at in (1, 2, 3, 4)]
    good = [end(3, 9, batch=batch, good=1) for batch in (1, 2, 3, 4)]

    assert sorted(found([*both, *good])) == [1, 2]


ENDS = st.lists(
    st.builds(
        lambda worker, at, batch, kind: end(worker, at, batch=batch, **{kind: 1}),
        worker=st.integers(1, 3), at=st.integers(0, 20), batch=st.integers(1, 4),
        kind=st.sampled_from(["good", "fast", "fast", "fast", "slow"]),
    ),
    max_size=40,
)  # fmt: skip


@given(ENDS)
def test_black_holes_failed_often_enough_and_last_and_others_did_not(ends: list[Ends]) -> None:
    for worker in found(ends):
        mine = [one for one in ends if one.worker_id == worker]
        well = [one.at for one in mine if not one.fast_failures]
        streak = [one for one in mine if not well or one.at > max(well)]

        assert sum(one.fast_failures for one in streak) >= FAILURES
        assert len({one.batch_id for one in streak}) >= BATCHES
        assert any(one.successes for one in ends if one.worker_id != worker)


@given(ENDS)
def test_without_successes_there_is_none(ends: list[Ends]) -> None:
    assert found([one for one in ends if not one.successes]) == []


@given(st.integers(0, 10_000), st.floats(1, 3600))
def test_tries_become_rarer_up_to_an_hour(failed: int, first_s: float) -> None:
    waits = [retry_s(failed + more, first_s=first_s) for more in (0, 1)]

    assert first_s <= waits[0] <= waits[1] <= 3600
