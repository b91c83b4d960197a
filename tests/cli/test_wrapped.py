"""Sentences on a terminal and elsewhere."""

from io import StringIO

import pytest

from weft.cli.terminal.plain import wrapped

TEXT = "The first sentence is here. `weft queue apply --dry-run FILE` shows it.\nAnother one."


class Screen(StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_whole_words_and_whole_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    assert wrapped(TEXT, Screen(), first="weft: ").split("\n") == [
        "weft: The first sentence is here.",
        "  `weft queue apply --dry-run FILE`",
        "  shows it.",
        "  Another one.",
    ]


def test_a_word_that_is_too_long_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = wrapped(f"`{'x' * 100} y`", Screen(), first="  ").split("\n")

    assert "".join(lines).replace(" ", "") == f"`{'x' * 100}y`"
    assert max(map(len, lines)) == 40


def test_a_file_gets_each_sentence_on_one_line() -> None:
    assert wrapped(TEXT, StringIO(), first="weft: ") == f"weft: {TEXT}".replace("\n", "\n  ")
