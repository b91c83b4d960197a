import math
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from weft.core.loop_periods import SOONEST_S, delay_s

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
