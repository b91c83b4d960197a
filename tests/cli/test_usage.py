"""Mistakes in a command line are told in the words of the other messages."""

import sys
from pathlib import Path

import pytest

from cases import cases
from cli.anything import COMMANDS
from weft.cli.app import USAGE, commands, main, run_command
from weft.cli.completion.cursor import read_commands
from weft.cli.terminal.shell_words import shell_hint
from weft.cli.terminal.usage import _MEANT, _PLACES, _PLACES_MAX, _elsewhere


@cases(
    ("line", "told"),
    [
        ("submit --fromat yaml x", "there is no option --fromat; did you mean --format?"),
        ("ls --jsn", "there is no option --jsn; did you mean --json?"),
        ("--bogus", "there is no option --bogus"),
        ("run --cores 2 -- x", "there is no option --cores; did you mean --cpu?"),
        ("each --mem 2 -- x", "there is no option --mem; did you mean --memory?"),
        ("cancel --all", "there is no option --all; did you mean --batches?"),
        ("rename b1 b12", "'b12' is how batches and jobs are numbered, and cannot be a name"),
        ("stats b1", "there is no command stats; did you mean status?"),
        ("ui", "there is no command ui; did you mean open?"),
        ("server", "there is no command server; did you mean up?"),
        ("kill b1", "there is no command kill; did you mean cancel?"),
        ("incidents", "there is no command incidents; did you mean failures or condition ls?"),
        ("sink why x", "there is no command sink; did you mean line ls or line deliveries?"),
        ("line rm x --yes", "there is no option --yes: `weft line rm` asks nothing"),
        ("token delete", "there is no command delete; did you mean revoke?"),
        ("down one two", "`weft down` takes no further arguments: one two"),
        ("status", "TARGET is missing"),
        ("submit", "FILE is missing"),
        ("submit --file", "--file needs a value"),
        ("up --port abc", "--port takes a whole number, not 'abc'"),
        ("submit x --format xml", "--format takes yaml, toml or json, not 'xml'"),
        ("ls -n -1", "-n must be at least 0, not '-1'"),
        ("condition release c1 0", "N must be at least 1, not '0'"),
        ("billing days -n 0", "-n must be at least 1, not '0'"),
        ("submit no-such-file", "cannot read 'no-such-file'"),
        ("retry b1.j2 --cause 0123456789ab", "a cause is for a whole batch"),
        ("failures b1/g3", "b1/g3 is a group, and causes of failures are counted by batch"),
        ("ls --json=3", "--json takes no value, not '3'"),
        ("ls --home a --home b", "--home is given twice"),
    ],
)
def test_a_mistake_is_told(line: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    exit_code = run_command(line.split())

    assert exit_code == USAGE
    assert capsys.readouterr().err.splitlines()[0] == f"weft: {told}"


@pytest.mark.parametrize("word", ["nothing-like-it", "seige", "--bogus", "-x", "version2"])
def test_an_unknown_word_needs_no_package(
    word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whichever command is not installed here: none of them is imported."""
    for function, _ in commands().values():
        monkeypatch.setitem(sys.modules, function.partition(":")[0], None)
    assert run_command([word]) == USAGE
    told = capsys.readouterr().err
    assert "there is no " in told
    assert "pip install" not in told


def test_version_is_a_word_too(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for word in ("version", "--version"):
        monkeypatch.setattr(sys, "argv", ["weft", word])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0
    first, second = capfd.readouterr().out.splitlines()
    assert first == second


def test_a_noun_of_the_guides_and_a_command_below_another_one_are_shown_their_place() -> None:
    known = read_commands()
    for word in {one.split()[-1] for one in known if " " in one} - {*known, *_MEANT}:
        n_alike = sum(one.endswith(f" {word}") for one in known)
        assert bool(_elsewhere(word, known)) == (n_alike <= _PLACES_MAX), word
    assert {one for commands in _PLACES.values() for one in commands} <= {*known}


@cases(
    ("words", "told"),
    [
        (["billing", "set-rates", "--json"], '"code": "CLI.NO_PRICE"'),
        (
            ["billing", "set-rates", "--cpu", "1", "--machine", "burst/small=1", "--json"],
            '"code": "CLI.PRICES_MIXED"',
        ),
        (["failures", "b1/my group", "--json"], '"code": "CLI.FAILURES_OF_GROUP"'),
        (["failures", "b1/my group"], "`weft jobs 'b1/my group' 'state = failed or state = err"),
        (["bogus"], "--help` lists the commands."),
        (["ls", "-x"], "--help` lists its options."),
        (["why"], "`weft ls` lists batches."),
        (["status"], "`weft ls` lists batches; `weft system` shows how weft itself is."),
    ],
)
def test_a_mistake_has_its_code_and_what_helps(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command([*words, "--home", str(tmp_path)]) == USAGE
    assert told in " ".join(capsys.readouterr().err.split())


@cases(
    ("line", "told"),
    [
        ("worker --slots 0", "--slots: 0 is below 1; allowed: a whole number, at least 1"),
        ("worker --worker-memory 8", '--worker-memory: 8 has no unit: write "8Mi" or "8Gi"'),
        ("worker --label rack", "--label: 'rack' is not a label such as rack=12; allowed: labels"),
        ("up --port 99999", "--port: 99999 is above 65535; allowed: a whole number"),
        ("api --log-format x", "--log-format: 'x' is not one of auto, console, json; allowed"),
    ],
)
def test_value_of_a_setting_is_told_by_its_option(
    line: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not by a variable of the environment that nobody has set, nor as a line of a log."""
    assert run_command([*line.split(), "--home", str(tmp_path)]) == USAGE
    first, *others = capsys.readouterr().err.splitlines()
    assert first == "weft: a setting has an impossible value"
    assert " ".join(map(str.strip, others)).startswith(told)


@pytest.mark.parametrize(
    ("line", "advised"),
    [
        ("set b12 priority=3", "`weft set b12 --priority N` sets the priority itself"),
        ("set b12.j1 name=x", "`weft rename b12.j1 NAME` sets the name itself"),
        ("set b12 cohort=x", None),
    ],
)
def test_attribute_with_the_name_of_a_field_is_not_taken_for_the_field(
    line: str,
    advised: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("weft.cli.commands.edit._edit_target", lambda *_, **__: 0)

    assert run_command(line.split()) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert advised in told if advised else told == ""


@cases(
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


@cases(
    ("command", "hint"),
    [
        ("echo {} | wc", "a pipe or `>` needs a shell: `weft each -- sh -c 'echo {} | wc'`"),
        ("ls>x", "a pipe or `>` needs a shell: `weft each -- sh -c 'ls>x'`"),
        ("a && b", "a pipe or `>` needs a shell: `weft each -- sh -c 'a && b'`"),
        ("wc -l {}", "the quotes make it one word; leave them out: `weft each -- wc -l {}`"),
        ("nothing", None),
        ("", None),
    ],
)
def test_a_line_in_one_word_gets_a_hint(command: str, hint: str | None) -> None:
    assert shell_hint([command], "weft each --") == hint


def test_a_program_with_arguments_gets_none() -> None:
    assert shell_hint(["a b", "c"], "weft run --") is None
