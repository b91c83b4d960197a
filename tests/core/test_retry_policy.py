"""How long a job waits before it is tried again."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.ends.retry_policy import EXTERNAL, completed, mistakes, wait_s

EXPONENTIAL = completed({"policy": "exponential"})
WAITS = st.floats(0.001, 365 * 86_400)
TRIES = st.integers(1, 2**31)


def policies() -> st.SearchStrategy[dict[str, Any]]:
    """Draw policies without mistakes."""
    steps = st.fixed_dictionaries({"tries": st.integers(1, 2**31 - 1), "wait_s": WAITS})
    jitter = st.floats(0, 1)
    return st.one_of(
        st.fixed_dictionaries({"policy": st.just("constant"), "wait_s": WAITS, "jitter": jitter}),
        st.tuples(WAITS, WAITS, jitter).map(
            lambda t: {"policy": "exponential", "first_s": min(t[:2]), "longest_s": max(t[:2]),
                       "jitter": t[2]}
        ),
        st.fixed_dictionaries({
            "policy": st.just("stepwise"), "steps": st.lists(steps, min_size=1, max_size=4),
            "give_up_s": WAITS, "jitter": jitter,
        }),
    ).map(completed)  # fmt: skip


@given(TRIES)
def test_default_doubles_up_to_five_minutes(n: int) -> None:
    """As JobWeaver waits, exact and without an overflow for every number of failures."""
    assert wait_s(EXPONENTIAL, n) == min(5 * 2 ** min(n, 100), 300)


def test_steps_have_exact_numbers_of_tries() -> None:
    waits = [wait_s(EXTERNAL, n) for n in range(1, 200)]

    assert waits == [10] * 2 + [20] * 10 + [60] * 10 + [120] * 100 + [300] * 77
    assert wait_s(EXTERNAL, 2**31) == 300
    assert wait_s(EXTERNAL, 1, waited_s=48 * 3600 - 0.1) == 10
    assert wait_s(EXTERNAL, 1, waited_s=48 * 3600) is None


def test_policy_with_a_last_step_gives_up_after_it() -> None:
    policy = completed({"policy": "stepwise", "steps": [{"tries": 2, "wait_s": 1}]})

    assert [wait_s(policy, n) for n in (1, 2, 3)] == [1, 1, None]


@given(policies(), TRIES, st.floats(0, 1))
def test_wait_is_bounded_and_jitter_only_shortens_it(
    policy: dict[str, Any], tries: int, draw: float
) -> None:
    whole, cut = wait_s(policy, tries), wait_s(policy, tries, draw=draw)
    if whole is None or cut is None:
        assert whole == cut
    else:
        assert 0 <= whole * (1 - policy["jitter"]) <= cut * 1.001
        assert cut <= whole <= 365 * 86_400


@given(policies())
def test_policies_without_mistakes_are_taken(policy: dict[str, Any]) -> None:
    assert list(mistakes(policy)) == []


@cases(
    ("policy", "where", "says"),
    [
        ({"policy": "constant", "wait_s": 0}, ("wait_s",), "from 0.001 s"),
        ({"policy": "constant", "wait_s": -1}, ("wait_s",), "from 0.001 s"),
        ({"policy": "constant", "wait_s": 1e9}, ("wait_s",), "to a year"),
        ({"policy": "constant", "first_s": 1}, ("first_s",), "no meaning"),
        ({"policy": "exponential", "longest_s": 5}, ("longest_s",), "first wait, 10 s"),
        ({"policy": "exponential", "jitter": 1.5}, ("jitter",), "from 0 (none) to 1"),
        ({"policy": "exponential", "jitter": -0.1}, ("jitter",), "from 0 (none) to 1"),
        ({"policy": "stepwise", "steps": []}, ("steps",), "from 1 to 100"),
        ({"policy": "stepwise", "steps": [{"wait_s": 1}, {"wait_s": 2}]}, ("steps", 0, "tries"),
         "only the last step"),
        ({"policy": "stepwise", "steps": [{"wait_s": 1, "tries": 0}]}, ("steps", 0, "tries"),
         "from 1 to"),
        ({"policy": "stepwise", "steps": [{"wait_s": -2}]}, ("steps", 0, "wait_s"), "from 0.001"),
        ({"policy": "stepwise", "give_up_s": 0}, ("give_up_s",), "from 0.001"),
    ],
)  # fmt: skip
def test_mistakes_are_found(policy: dict[str, Any], where: tuple[str, ...], says: str) -> None:
    ((found, message),) = mistakes(policy)
    assert found == where
    assert says in message
