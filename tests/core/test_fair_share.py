"""How free cpu is shared among users."""

from hypothesis import given
from hypothesis import strategies as st

from store.water_filling import Demand, water_filling
from weft.core.scheduling.fair_share import UserWork, fair_shares

users = st.lists(
    st.builds(
        UserWork, st.integers(0, 64_000), st.integers(0, 64_000), weight=st.integers(1, 4)
    ),
    min_size=1,
    max_size=8,
)  # fmt: skip


def test_whoever_runs_least_is_raised_first() -> None:
    assert fair_shares([UserWork(0, 9), UserWork(0, 9)], 6) == [3, 3]
    assert fair_shares([UserWork(4, 9), UserWork(0, 9)], 6) == [1, 5]
    assert fair_shares([UserWork(4, 9), UserWork(0, 9)], 3) == [0, 3]
    assert fair_shares([UserWork(0, 1), UserWork(0, 9), UserWork(0, 9)], 9) == [1, 4, 4]
    assert fair_shares([UserWork(0, 9, weight=3), UserWork(0, 9)], 8) == [6, 2]
    assert fair_shares([UserWork(0, 9), UserWork(5, 2)], 30) == [9, 2]


@given(users=users, budget_m=st.integers(1, 128_000))
def test_shares_are_those_of_the_rule(users: list[UserWork], budget_m: int) -> None:
    """The rule with fractions; shares are rounded up."""
    exact = water_filling(
        [Demand(user.running_m, user.ready_m, int(user.weight)) for user in users], budget_m
    )

    for share, rule in zip(fair_shares(users, budget_m), exact, strict=True):
        assert -1e-6 < share - rule < 1 + 1e-6
