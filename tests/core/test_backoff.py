from hypothesis import given
from hypothesis import strategies as st

from weft.core.backoff import (
    RESTART_FIRST_S,
    RESTART_LONGEST_S,
    STABLE_S,
    backoff_s,
    restart_after,
)
from weft.ports.patience import retry_s

JITTER = st.floats(0, 1, exclude_max=True)


@given(st.integers(1, 10_000), JITTER)
def test_backoff_stays_between_half_the_first_and_the_longest(
    failures: int, jitter: float
) -> None:
    delay_s = backoff_s(failures, first_s=0.1, longest_s=5.0, jitter=jitter)

    assert 0.05 <= delay_s <= 5.0


@given(st.integers(1, 100))
def test_backoff_never_shrinks_without_jitter(failures: int) -> None:
    delays = [
        backoff_s(n, first_s=0.1, longest_s=5.0, jitter=0.0) for n in (failures, failures + 1)
    ]

    assert delays == sorted(delays)


def test_first_death_is_repaired_at_once() -> None:
    assert restart_after(0, lived_s=0.0, jitter=0.5) == (1, 0.0)


@given(st.integers(0, 1000), st.floats(STABLE_S, 1e9), JITTER)
def test_death_after_a_long_life_is_repaired_at_once(
    deaths: int, lived_s: float, jitter: float
) -> None:
    assert restart_after(deaths, lived_s=lived_s, jitter=jitter) == (1, 0.0)


@given(st.integers(1, 1000), st.floats(0, STABLE_S, exclude_max=True), JITTER)
def test_repeated_death_waits_within_its_bounds(
    deaths: int, lived_s: float, jitter: float
) -> None:
    now, delay_s = restart_after(deaths, lived_s=lived_s, jitter=jitter)

    assert now == deaths + 1
    assert RESTART_FIRST_S / 2 <= delay_s <= RESTART_LONGEST_S


@given(st.integers(0, 100))
def test_pauses_differ_so_that_those_who_failed_together_come_apart(failures: int) -> None:
    delays_s = {retry_s(failures, first_s=0.1, longest_s=5.0) for _ in range(20)}

    assert len(delays_s) > 1
    assert min(delays_s) >= 0.05
    assert max(delays_s) <= 5.0
