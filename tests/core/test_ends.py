"""Ends of jobs: conditions, exit codes, signals, waits and resources of the next try."""

import json
import pickle
import signal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.backoff import (
    RESTART_FIRST_S,
    RESTART_LONGEST_S,
    STABLE_S,
    backoff_s,
    restart_after,
)
from weft.core.ends.conditions import (
    FILE_BYTES_MAX,
    Ask,
    Blocked,
    WrongAsk,
    parse_tester_commands,
    read_ask,
    write_ask,
)
from weft.core.ends.end_rules import parse_codes, parse_end_signal
from weft.core.ends.retry_policy import EXTERNAL, completed, mistakes, wait_s
from weft.core.ends.retry_with import REQUESTS_MAX, MoreRule, combinations, ladder, parse_factor
from weft.core.errors import InvalidValue
from weft.core.signals import parse_signal, word_of
from weft.ports.patience import retry_s

ASK = Ask("quota", "tcp", {"host": "db.example", "port": "5432"})


def test_what_is_written_is_read() -> None:
    assert read_ask(write_ask(ASK)) == (ASK, "")


def test_a_number_is_taken_as_its_text_and_a_condition_is_custom_by_default() -> None:
    ask, _ = read_ask(b'{"tester": "tcp", "parameters": {"port": 22}}')
    assert ask == Ask("custom", "tcp", {"port": "22"})


@cases(
    ("data", "why"),
    [
        (b"\xff\xfe\x00binary", "not text"),
        (b" " * (FILE_BYTES_MAX + 1), "more than 16 KiB"),
        (b"", "not JSON"),
        (b"[" * 10_000, "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"condition": "quota", "condition": "custom", "tester": "tcp"}', "twice"),
        (b'{"tester": "tcp", "parameters": {"a": 1, "a": 2}}', "twice"),
        (b'{"tester": "tcp", "condition": "bad"}', "its condition is not one of"),
        (b'{"tester": "tcp", "condition": ["quota"]}', "its condition is not one of"),
        (b'{"condition": "quota"}', "not the name of one"),
        (b'{"tester": "../tcp"}', "not the name of one"),
        (b'{"tester": "tcp\\n"}', "not the name of one"),
        (b'{"tester": "tcp", "parameters": []}', "not an object"),
        (b'{"tester": "tcp", "parameters": {"a b": 1}}', "a parameter is a name"),
        (b'{"tester": "tcp", "parameters": {"a": true}}', "a parameter is a name"),
        (b'{"tester": "tcp", "parameters": {"a": 1e400}}', "a parameter is a name"),
        (b'{"tester": "tcp", "parameters": {"a": "x\\u0000"}}', "not printable"),
        (b'{"tester": "tcp", "parameters": {"a": "' + b"x" * 1001 + b'"}}', "too long"),
        (
            json.dumps({"tester": "tcp", "parameters": {f"p{n}": 1 for n in range(21)}}).encode(),
            "at most 20 fields",
        ),
        (b'{"tester": "tcp", "parameters": {"a": ' + b"9" * 5000 + b"}}", "not JSON"),
    ],
)
def test_a_wrong_file_is_told(data: bytes, why: str) -> None:
    with pytest.raises(WrongAsk, match=why):
        read_ask(data)


def test_settings_of_testers() -> None:
    assert parse_tester_commands("a=/bin/a, b=/bin/b") == {"a": "/bin/a", "b": "/bin/b"}


@cases("text", ["a", "a=bin/a", "=/bin/a", "a=/x,a=/y", "a b=/x"])
def test_wrong_commands_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"program|twice"):
        parse_tester_commands(text)


def test_what_is_blocked_says_what_it_waits_for() -> None:
    error = Blocked("quota", "tcp", {"host": "db", "port": 1}, message="no room")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)

    assert error.ask == copy.ask == Ask("quota", "tcp", {"host": "db", "port": "1"})
    assert str(copy) == "no room"
    assert Blocked().ask == Ask("custom", "always", {})


@pytest.mark.parametrize(
    "given", [("hunger", "tcp", {}), ("quota", "no name", {}), ("quota", "tcp", {"a": 1.5})]
)
def test_a_wrong_ask_is_told_where_it_is_raised(given: tuple[str, str, Any]) -> None:
    with pytest.raises(ValueError, match=r"its condition|its tester|a parameter"):
        raise Blocked(*given)


@cases(("given", "range_"), [(3, (3, 3)), ("3", (3, 3)), ("10-20", (10, 20)), ("1-255", (1, 255))])
def test_codes_and_ranges_are_read(given: str | int, range_: tuple[int, int]) -> None:
    assert parse_codes(given) == range_


@cases(
    "given", [0, -1, 256, "0", "20-10", "3-", "-3", "1-256", "x", "", "²", " 3", True, "9" * 100]
)
def test_other_codes_are_refused(given: str | int) -> None:
    with pytest.raises(ValueError, match="is no exit code of a failure"):
        parse_codes(given)


@cases("word", ["USR1", "SIGUSR1", "usr1", "10"])
def test_signals_have_names_and_numbers(word: str) -> None:
    assert parse_end_signal(word) == 10


@cases("word", ["", "0", "99", "-1", "NONSENSE", "²"])
def test_other_signals_of_ends_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match="there is no signal"):
        parse_end_signal(word)


@cases("given", ["USR1", "sigusr1", " 10 ", 10])
def test_signals_to_jobs_have_names_and_numbers(given: str | int) -> None:
    assert parse_signal(given, "b1.j7") == signal.SIGUSR1
    assert word_of(signal.SIGUSR1) == "USR1"


@cases("given", [9, "9", "KILL", "SIGKILL"])
def test_kill_is_refused_for_cancel(given: str | int) -> None:
    with pytest.raises(InvalidValue, match="KILL cannot be handled") as refused:
        parse_signal(given, "b1.j7")
    assert refused.value.hint == "`weft cancel b1.j7` ends it."


@cases("given", [0, "0", 99, "99", "-1", "NONSENSE", "", "²", "x" * 1000])
def test_other_signals_are_refused(given: str | int) -> None:
    with pytest.raises(InvalidValue) as refused:
        parse_signal(given, "b1.j7")
    assert [error.pointer for error in refused.value.errors] == ["/signal"]
    assert len(refused.value.message) < 100


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
            lambda t: {
                "policy": "exponential",
                "first_s": min(t[:2]),
                "longest_s": max(t[:2]),
                "jitter": t[2],
            }
        ),
        st.fixed_dictionaries(
            {
                "policy": st.just("stepwise"),
                "steps": st.lists(steps, min_size=1, max_size=4),
                "give_up_s": WAITS,
                "jitter": jitter,
            }
        ),
    ).map(completed)


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
        (
            {"policy": "stepwise", "steps": [{"wait_s": 1}, {"wait_s": 2}]},
            ("steps", 0, "tries"),
            "only the last step",
        ),
        (
            {"policy": "stepwise", "steps": [{"wait_s": 1, "tries": 0}]},
            ("steps", 0, "tries"),
            "from 1 to",
        ),
        ({"policy": "stepwise", "steps": [{"wait_s": -2}]}, ("steps", 0, "wait_s"), "from 0.001"),
        ({"policy": "stepwise", "give_up_s": 0}, ("give_up_s",), "from 0.001"),
    ],
)
def test_mistakes_are_found(policy: dict[str, Any], where: tuple[str, ...], says: str) -> None:
    ((found, message),) = mistakes(policy)
    assert found == where
    assert says in message


@cases(
    ("first", "factor", "last", "values"),
    [
        (512, 2, 4096, [512, 1024, 2048, 4096]),
        (1000, 2, 3500, [1000, 2000, 3500]),
        (3, 1.5, 8, [3, 5, 8]),
        (1, 1.01, 3, [1, 2, 3]),
    ],
)
def test_a_size_grows_up_to_its_limit(
    first: int, factor: float, last: int, values: list[int]
) -> None:
    assert ladder(first, factor, last) == values


def test_a_ladder_has_a_limited_number_of_steps() -> None:
    assert len(ladder(1, 2, 2**30)) < REQUESTS_MAX
    with pytest.raises(ValueError, match=f"more than {REQUESTS_MAX}"):
        ladder(10**6, 1.001, 10**9)


@cases(
    ("given", "factor"),
    [
        ("x2", 2),
        ("×1.5", 1.5),
        ("X 3", 3),
        ("2Gi", None),
        (2, None),
        ("2x", None),
    ],
)
def test_factors(given: object, factor: float | None) -> None:
    assert parse_factor(given) == factor


@cases("given", ["x1", "x0", "x0.5", "x101"])
def test_a_factor_makes_more(given: str) -> None:
    with pytest.raises(ValueError, match="no factor"):
        parse_factor(given)


def test_combinations_change_what_has_come_further() -> None:
    memory = MoreRule(after=1, values=[1, 2, 4], size="memory_mib")
    stays = MoreRule(after=1, values=["yes", None], word="preemptible")

    assert [*combinations([memory, stays])] == [
        {},
        {"preemptible": None},
        {"memory_mib": 2},
        {"memory_mib": 2, "preemptible": None},
        {"memory_mib": 4},
        {"memory_mib": 4, "preemptible": None},
    ]


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
