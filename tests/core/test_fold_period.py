from hypothesis import given
from hypothesis import strategies as st

from weft.core.loop_periods import (
    FEW_DELTAS,
    JOBS_PER_S,
    LONGER_S,
    LONGEST_S,
    SHARE_MAX,
    SHORTEST_S,
    next_fold_period_s,
    sweep_pause_s,
)

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
