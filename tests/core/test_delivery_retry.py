from hypothesis import given
from hypothesis import strategies as st

from weft.core.deliveries.delivery_retry import GONE, RetryPlan, is_delivered, next_try_s

JITTER = st.floats(0, 1, exclude_max=True)
PLANS = st.builds(
    RetryPlan,
    first_s=st.floats(0.01, 10),
    longest_s=st.floats(10, 86400),
    attempts_max=st.integers(1, 10_000),
    age_max_s=st.floats(1, 31_536_000),
)
STATUSES = st.none() | st.integers(100, 599)
ATTEMPTS = st.integers(1, 20_000)
AGES = st.floats(0, 4e7)


@given(PLANS, STATUSES, ATTEMPTS, AGES, JITTER)
def test_delay_stays_within_its_bounds_and_within_the_age(
    plan: RetryPlan, status: int | None, attempts: int, age_s: float, jitter: float
) -> None:
    delay_s = next_try_s(plan, status, attempts=attempts, age_s=age_s, jitter=jitter)
    ends = status == GONE or attempts >= plan.attempts_max or age_s >= plan.age_max_s

    assert (delay_s is None) == ends
    if delay_s is not None:
        assert 0 < delay_s <= plan.longest_s
        assert age_s + delay_s <= plan.age_max_s * (1 + 1e-9)
        assert delay_s >= min(plan.first_s / 2, plan.age_max_s - age_s)


@given(PLANS, AGES, st.integers(1, 200))
def test_delay_never_shrinks_without_jitter(plan: RetryPlan, age_s: float, attempts: int) -> None:
    pair = [
        next_try_s(plan, 500, attempts=n, age_s=age_s, jitter=0.0)
        for n in (attempts, attempts + 1)
    ]

    assert pair[0] is None or pair[1] is None or pair[0] <= pair[1]


@given(PLANS, JITTER)
def test_every_callback_is_given_up_in_the_end(plan: RetryPlan, jitter: float) -> None:
    """However often it fails at once: attempts and age both have an end."""
    age_s, attempts = 0.0, 1
    while attempts <= plan.attempts_max:
        delay_s = next_try_s(plan, None, attempts=attempts, age_s=age_s, jitter=jitter)
        if delay_s is None:
            break
        age_s, attempts = age_s + delay_s, attempts + 1

    assert attempts <= plan.attempts_max
    assert age_s <= plan.age_max_s * (1 + 1e-9)


def test_only_2xx_is_a_delivery() -> None:
    assert {status for status in range(100, 600) if is_delivered(status)} == set(range(200, 300))
    assert not is_delivered(None)
