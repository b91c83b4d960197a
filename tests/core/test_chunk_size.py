"""How many calls become one job."""

from hypothesis import given
from hypothesis import strategies as st

from weft.client.functions.map import CALLS_MAX, TARGET_S, ChunkSizes

seconds = st.floats(min_value=0, max_value=1e6)


def sizes_of(seconds_a_call: float, slots: int = 2) -> ChunkSizes:
    sizes = ChunkSizes(slots=slots)
    sizes.measured(seconds=seconds_a_call, calls=1)
    return sizes


def test_calls_go_alone_until_one_was_measured() -> None:
    sizes = ChunkSizes(slots=3)

    assert (sizes.next_size(50_000), sizes.jobs_out_max) == (1, 6)


def test_long_calls_go_alone() -> None:
    assert sizes_of(TARGET_S).next_size(1000) == 1


def test_short_calls_fill_the_target() -> None:
    assert sizes_of(TARGET_S / 100).next_size(1_000_000) == 100


def test_what_is_left_is_shared_by_all() -> None:
    assert sizes_of(1e-6, slots=2).next_size(800) == 100


def test_one_slow_first_call_does_not_count_alone() -> None:
    sizes = ChunkSizes(slots=1)
    for lasted in (5.0, 0.002, 0.002):
        sizes.measured(seconds=lasted, calls=1)

    assert sizes.next_size(1_000_000) == 100


@given(st.lists(st.tuples(seconds, st.integers(0, 10_000))), st.integers(1, 10**7), st.integers())
def test_a_size_is_within_its_limits(
    measures: list[tuple[float, int]], left: int, slots: int
) -> None:
    sizes = ChunkSizes(slots=slots)
    for lasted, calls in measures:
        sizes.measured(seconds=lasted, calls=calls)

    assert 1 <= sizes.next_size(left) <= min(left, CALLS_MAX)
    assert sizes.jobs_out_max >= 1
