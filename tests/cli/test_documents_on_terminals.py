"""What `--json` and `--csv` print: texts of others, which steer no terminal."""

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable

import pytest

from weft.cli.commands.billing import print_csv
from weft.cli.terminal.screen import JsonItems, print_json, print_line

EVIL = "a\x1b]0;title\x07\x9b31m\x7f\u202eb"
DOCUMENT = {"name": EVIL}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def items(document: object) -> None:
    found = JsonItems()
    found.print([document])
    found.end()


def printed(
    screen: io.StringIO, monkeypatch: pytest.MonkeyPatch, write: Callable[[], None]
) -> str:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", screen)
        write()
    return screen.getvalue()


@pytest.mark.parametrize("write", [print_json, print_line, items])
def test_json_says_the_same_and_steers_nothing(
    monkeypatch: pytest.MonkeyPatch, write: Callable[[object], None]
) -> None:
    shown = printed(Terminal(), monkeypatch, lambda: write(DOCUMENT))
    piped = printed(io.StringIO(), monkeypatch, lambda: write(DOCUMENT))

    assert shown.replace("\n", "").isprintable()
    assert piped.replace("\n", "").isprintable()
    assert json.loads(shown) == json.loads(piped)


def test_commands_that_are_shown_steer_nothing() -> None:
    """Those of `weft each --dry-run --json`."""
    master, terminal = pty.openpty()
    weft = [sys.executable, "-m", "weft.cli", "each", "--dry-run", "--json", "echo"]
    given = f"{EVIL}\n".encode()
    subprocess.run(weft, input=given, stdout=terminal, check=True)
    shown = os.read(master, 10_000).decode()
    piped = subprocess.run(weft, input=given, capture_output=True, check=True).stdout.decode()
    for one in (master, terminal):
        os.close(one)

    assert shown.removesuffix("\r\n").isprintable()
    assert json.loads(shown) == json.loads(piped)


def test_csv_steers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"name": EVIL, "kind": "value", "cost": "1", "cost_by_resource": []}
    shown = printed(Terminal(), monkeypatch, lambda: print_csv("cohort", [row]))
    piped = printed(io.StringIO(), monkeypatch, lambda: print_csv("cohort", [row]))

    lines = shown.split("\n")
    assert all(one.isprintable() for one in lines)
    assert len(lines) == 3
    assert "\r\n" in piped
    assert EVIL in piped
