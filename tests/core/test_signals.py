"""Signals by name and number."""

import signal

import pytest

from cases import cases
from weft.core.errors import InvalidValue
from weft.core.signals import parse_signal, word_of


@cases("given", ["USR1", "sigusr1", " 10 ", 10])
def test_signals_have_names_and_numbers(given: str | int) -> None:
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
