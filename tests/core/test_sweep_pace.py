"""Settling cancelled jobs leaves room for others, and still ends."""

from hypothesis import given
from hypothesis import strategies as st

from weft.core.sweep_pace import JOBS_PER_S, sweep_pause_s

WANTED_PER_S = 20_000


@given(st.integers(1, 10_000), st.floats(0, 10))
def test_a_sweep_is_neither_faster_nor_much_slower_than_it_should_be(
    jobs: int, took_s: float
) -> None:
    pause_s = sweep_pause_s(jobs, took_s=took_s)

    assert pause_s >= 0
    assert jobs / max(took_s + pause_s, 1e-9) <= JOBS_PER_S * 1.001
    if pause_s:
        assert jobs / (took_s + pause_s) > WANTED_PER_S
