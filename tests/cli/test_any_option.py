"""No option, argument or variable, whatever its value, ends in a traceback."""

import io
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.anything import COMMANDS, problem_of, stop
from weft.settings import all_declared, variable_of

if TYPE_CHECKING:
    from cyclopts.argument import Argument

pytestmark = pytest.mark.heavy

VALUES = (
    "", "abc", "-1", "0", "1.5", "1e999", "nan", "9" * 400, "²", "\udcff", "\x1b[31m", "a=b", "=",
    "b0", "b1", "b1.j1", "b1.g1", "/", "2026-02-30", "0001-01-01T00:00+23:59", "(", "a = b =",
    "postgresql://", "postgresql://[", "postgresql://h:99999999/x", "http://[::1", "[1",
    "~nobody-",
)  # fmt: skip
"""What people, scripts and broken files write."""
FEW = ("abc", "\udcff", "9" * 400)
"""Of these, what meets the same code in command after command: with `weft ls` it gets all."""
OF_ALL_COMMANDS = ("--home", "--visit")


def is_option(argument: "Argument") -> bool:
    return argument.names[0].startswith("--")


def calls(command: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield the words of many calls: each option and each argument with each value."""
    arguments = COMMANDS[command].assemble_argument_collection()
    given = [one for one in arguments if one.parse and one.names != ("*",)]
    needed = ["b1" for one in given if not is_option(one) and one.required]
    if command == ("bench",):  # without a name it would measure all
        command, needed = (*command, "no-such"), []
    takes_words = not all(map(is_option, given))
    yield [*command]
    yield from ([*command, value] for value in FEW)
    for value in VALUES if takes_words else FEW:
        yield [*command, *needed[1:], "--", value]
    for one in filter(is_option, given):
        common = one.names[0] in OF_ALL_COMMANDS and command != ("ls",)
        values = FEW if common else VALUES
        for name in one.names:
            if one.hint in {bool, bool | None}:
                yield [*command, *needed, name]
                yield [*command, *needed, f"{name}=abc"]
            else:
                yield [*command, *needed, name]
                # Below a file, so that nothing can be started there.
                place = "file/" if name == "--home" else ""
                yield from ([*command, *needed, f"{name}={place}{value}"] for value in values)
        if "--home" in one.names:
            yield [*command, *needed, "--home=~nobody-"]


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Let commands find no server, and no home in which something could be started."""
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("WEFT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("WEFT_HOME", str(tmp_path / "file" / "home"))
    monkeypatch.setenv("WEFT_URL", "http://127.0.0.1:1")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_option_ends_in_a_traceback(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    problems = [problem for words in calls(command) if (problem := problem_of(words))]
    printed = capsys.readouterr()

    assert problems == []
    assert "Traceback" not in printed.err + printed.out


@pytest.mark.parametrize("name", [*all_declared()])
def test_no_variable_ends_in_a_traceback(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    problems = []
    for value in VALUES:
        monkeypatch.setenv(variable_of(name), value)
        problems += [problem_of(["config"])]
        if value in {"abc", "~nobody-", "postgresql://[", "\udcff"}:
            problems += [problem_of([*words]) for words in (["ls"], ["audit"], ["down"])]
    capsys.readouterr()

    assert list(filter(None, problems)) == []
