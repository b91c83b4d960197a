"""Classes of time limits."""

from hypothesis import given
from hypothesis import strategies as st

from weft.core.scheduling.time_limits import BOUNDS_S, limit_class


def test_classes() -> None:
    found = [limit_class(one) for one in (None, 0.5, 10, 10.5, 3599, 3600, 86_400, 86_401)]

    assert found == [
        None, "0-10", "10-10", "10-30", "1800-3600", "3600-3600", "86400-86400", "86400-",
    ]  # fmt: skip


@given(st.floats(0.001, 10_000_000))
def test_a_limit_is_within_its_class(limit_s: float) -> None:
    least, most = str(limit_class(limit_s)).split("-")

    assert int(least) <= limit_s <= (float(most) if most else limit_s)
    assert not any(int(least) < one < limit_s for one in BOUNDS_S)
