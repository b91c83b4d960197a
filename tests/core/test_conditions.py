"""What a job may ask to wait for."""

import json
import pickle
from typing import Any

import pytest

from cases import cases
from weft.core.ends.conditions import (
    FILE_BYTES_MAX,
    Ask,
    Blocked,
    WrongAsk,
    parse_tester_commands,
    read_ask,
    write_ask,
)

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
        (json.dumps({"tester": "tcp", "parameters": {f"p{n}": 1 for n in range(21)}}).encode(),
         "at most 20 fields"),
        (b'{"tester": "tcp", "parameters": {"a": ' + b"9" * 5000 + b"}}", "not JSON"),
    ],
)  # fmt: skip
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
