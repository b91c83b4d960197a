"""No option, argument or variable of the environment, whatever its value, ends in a traceback."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from cases import cases
from cli.anything import COMMANDS, FEW, VALUES, problem_of, some_values
from weft.cli.app import USAGE, run_command
from weft.settings import all_declared, variable_of

if TYPE_CHECKING:
    from cyclopts.argument import Argument

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("finds_nothing")]

OF_ALL_COMMANDS = ("--home", "--visit")


def is_option(argument: "Argument") -> bool:
    return argument.names[0].startswith("--")


def calls(command: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield the words of many calls: each option and each argument with each value."""
    arguments = COMMANDS[command].assemble_argument_collection()
    given = [one for one in arguments if one.parse and one.names != ("*",)]
    needed = ["b1" for one in given if not is_option(one) and one.required]
    if command == ("install",):  # below a file nothing is written
        needed = ["--root=file/root"]
    if command == ("siege",):  # without it, one would begin
        command = (*command, "--schedule")
    if command == ("bench",):  # without a name it would measure all
        command, needed = (*command, "no-such"), []
    takes_words = not all(map(is_option, given))
    yield [*command]
    yield from ([*command, value] for value in FEW)
    for value in VALUES if takes_words else FEW:
        yield [*command, *needed[1:], "--", value]
    for number, one in enumerate(filter(is_option, given), len(" ".join(command))):
        common = one.names[0] in OF_ALL_COMMANDS and command != ("ls",)
        values = FEW if common else some_values(number)
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


@cases("command", COMMANDS)
def test_no_option_ends_in_a_traceback(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    problems = [problem for words in calls(command) if (problem := problem_of(words))]
    printed = capsys.readouterr()

    assert problems == []
    assert "Traceback" not in printed.err + printed.out


def test_no_whole_number_is_rounded(capsys: pytest.CaptureFixture[str]) -> None:
    """1.5 is no 2, for any option."""
    asked = []
    for command, app in COMMANDS.items():
        given = app.assemble_argument_collection()
        needed = [f"{one.names[0]}=1" if is_option(one) else "1" for one in given if one.required]
        whole = [one for one in given if one.parse and one.hint in {int, int | None}]
        asked += [[*command, *needed, f"{one.names[0]}=1.5"] for one in whole if is_option(one)]
    assert asked
    codes = {" ".join(words): run_command(words) for words in asked}
    said = capsys.readouterr().err

    assert {words: code for words, code in codes.items() if code != USAGE} == {}
    assert said.count("takes a whole number, not '1.5'") == len(asked)


NAMES = [*all_declared()]
FEW_COMMANDS = (["ls"], ["audit"], ["down"])


@pytest.mark.parametrize("name", NAMES)
def test_no_variable_ends_in_a_traceback(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    number = NAMES.index(name)
    problems = []
    for value in some_values(number):
        monkeypatch.setenv(variable_of(name), value)
        problems += [problem_of(["config"])]
        if value in {"abc", "~nobody-", "postgresql://[", "\udcff"}:
            problems += [problem_of(FEW_COMMANDS[number % len(FEW_COMMANDS)])]
    capsys.readouterr()

    assert list(filter(None, problems)) == []
