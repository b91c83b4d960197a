"""Mistakes in a command line are told in the words of the other messages."""

import pytest

from cli.anything import COMMANDS
from weft.cli.app import USAGE, run_command


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ls --bogus", "there is no option --bogus"),
        ("ls --jxn", "there is no option --jxn"),
        ("run -x", "there is no option -x"),
        ("ls --jsn", "there is no option --jsn; did you mean --json?"),
        ("--bogus", "there is no option --bogus"),
        ("stats b1", "there is no command stats; did you mean status?"),
        ("down one two", "`weft down` takes no further arguments: one two"),
        ("status", "TARGET is missing"),
        ("run --memory", "--memory needs a value"),
        ("up --port abc", "--port takes a whole number, not 'abc'"),
        ("submit x --format xml", "--format takes yaml, toml or json, not 'xml'"),
        ("ls --json=3", "--json takes no value, not '3'"),
        ("ls --home a --home b", "--home is given twice"),
    ],
)
def test_a_mistake_is_told(line: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    exit_code = run_command(line.split())

    assert exit_code == USAGE
    assert capsys.readouterr().err.splitlines()[0] == f"weft: {told}"


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("run --bogus date", True),
        ("each sort -n", True),
        ("run --bogus -- date", False),
        ("each --retries x -- date", False),
        ("ls --bogus", False),
    ],
)
def test_two_hyphens_are_advised_where_they_are_missing(
    line: str, capsys: pytest.CaptureFixture[str], *, is_told: bool
) -> None:
    assert run_command(line.split()) == USAGE
    assert ("two hyphens" in capsys.readouterr().err) == is_told


def test_help_of_an_option_is_one_paragraph() -> None:
    """Of two lines the second would be indented as in the source."""
    broken = [
        (command, argument.names)
        for command, app in COMMANDS.items()
        for argument in app.assemble_argument_collection()
        if "\n " in (argument.parameter.help or "")
    ]

    assert broken == []
