"""What the keys of `weft top` do to workers and in outputs, and who may use them."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.conftest import PROGRAM, Weft, until
from e2e.every_command import READING
from e2e.tmux import on_tmux, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.heavy
TOP = words_of([*PROGRAM, "top"])


@pytest.fixture
def talking(weft: Weft, tmp_path: Path) -> "Iterator[tuple[str, Callable[[str], None]]]":
    """Run a job that writes what it is told; give its batch, and what tells it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    begun = weft.run("run", "--detach", "--", "cat", str(pipe))
    job = begun.stdout.decode().strip()
    batch = job.partition(".")[0]
    with pipe.open("w") as told:

        def tell(text: str) -> None:
            told.write(text)
            told.flush()

        yield batch, tell
    weft.run("cancel", batch)


def worker_of(weft: Weft) -> str:
    """Return the state of the worker that runs processes."""
    found, *_ = json.loads(weft.run("worker", "ls", "--json").stdout)
    return str(found["state"])


def test_a_worker_is_cordoned_and_drained_after_a_yes(
    weft: Weft, talking: "tuple[str, Callable[[str], None]]", tmp_path: Path
) -> None:
    """A draining worker that has a job stays, so that it can be taken back."""
    batch, _ = talking
    try:
        with on_tmux(tmp_path, weft.environment(), columns=80, lines=24) as terminal:
            terminal.type(f"{TOP}\n")
            terminal.until(f"\n{batch} ")
            terminal.press_until("2", "working", f"{batch}.j1", "c cordon  d drain")
            terminal.press_until("c", "It takes no new jobs; those it has (1 job) go on.", "[y/N]")
            terminal.press_until("n", "nothing was done")
            untouched = worker_of(weft)
            terminal.press("c", "y")
            terminal.until(": cordoned, 1 job running", "cordoned ")
            terminal.press("d", "y")
            terminal.until(": draining, 1 job running", "draining ")
            drained = worker_of(weft)
            terminal.press_until("c", "It takes jobs again. [y/N]")
            terminal.press_until("y", ": active", "working")
    finally:
        for one in json.loads(weft.run("worker", "ls", "--json").stdout):
            weft.run("worker", "uncordon", one["worker"])

    assert (untouched, drained, worker_of(weft)) == ("active", "draining", "active")


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (200, 50)])
def test_an_output_is_searched_and_followed(
    weft: Weft,
    talking: "tuple[str, Callable[[str], None]]",
    tmp_path: Path,
    columns: int,
    lines: int,
) -> None:
    batch, tell = talking
    tell("".join(f"line {n}: {'ERROR' if n in {30, 100} else 'fine'}\n" for n in range(1, 201)))
    with on_tmux(tmp_path, weft.environment(), columns=columns, lines=lines) as terminal:
        terminal.type(f"{TOP}\n")
        terminal.until(f"\n{batch} ")
        terminal.press_until("Enter", f"{batch}.j1")
        terminal.press_until("Enter", "line 200: fine", "[follows]")
        tell("more\n")
        terminal.until("more")
        terminal.press("/")
        terminal.type("error")
        terminal.press_until("Enter", "line 30: ERROR", "1 of 2", "[stopped]")
        terminal.press_until("n", "line 100: ERROR", "2 of 2")
        terminal.press_until("N", "line 30: ERROR", "1 of 2")
        tell("last\n")
        until(lambda: b"last" in weft.run("logs", f"{batch}.j1").stdout)
        terminal.press("/")
        terminal.type("last")
        terminal.press_until("Enter", "no line has 'last'")
        terminal.press_until("f", "last", "[follows]")


def test_who_may_only_look_is_offered_nothing_else(
    weft: Weft, talking: "tuple[str, Callable[[str], None]]", tmp_path: Path
) -> None:
    batch, _ = talking
    token = weft.run("user", "add", "looks", "--role", "viewer").stdout.decode().strip()
    url = json.loads((weft.home / "client.json").read_text())["url"]
    eyes = {**weft.environment(), "WEFT_HOME": str(tmp_path), "WEFT_URL": url}
    with on_tmux(tmp_path, {**eyes, "WEFT_TOKEN": token}, columns=80, lines=24) as terminal:
        terminal.type(f"{TOP}\n")
        seen = [terminal.until(f"\n{batch} ", "q quit", gone="cancel")]
        terminal.press("c")
        terminal.until(
            "user looks may not submit or change jobs", "The role of this user is viewer"
        )
        terminal.press("2")
        seen.append(terminal.until("Worker", "q quit"))
        terminal.press_until("d", "user looks may not change pools, workers")
        terminal.press("?")
        seen.append(terminal.until("leave", "filter"))

    words = "\n".join(line for lines in seen for line in lines)
    assert not [word for word in ("cancel", "retry", "hold", "cordon", "drain") if word in words]
    assert worker_of(weft) == "active"


def test_an_empty_home_says_how_to_begin(tmp_path: Path) -> None:
    weft = Weft(tmp_path / "home")
    with on_tmux(tmp_path, weft.environment(), columns=80, lines=24) as terminal:
        terminal.type(f"{TOP}\n")
        terminal.until("no server is running here", "Start one with `weft up`")
        try:
            assert weft.run("up", "--port", "0", "--detach").returncode == 0
            terminal.type(f"clear; {TOP}\n")
            terminal.until("no batches yet; `weft run -- date` creates one")
            lists = [words for words in READING if words.split()[-1] == "ls"]
            silent = [
                words
                for words in sorted(lists, key=READING.__getitem__)
                if not _fills(weft, words)
            ]
        finally:
            weft.run("down")

    assert not silent


def _fills(weft: Weft, words: str) -> bool:
    """Return whether a list has a row, or says in a sentence what makes one."""
    target = READING[words].format(batch="b1", job="b1.j1").split()
    if target:
        weft.run("run", "--", "true")
    shown = weft.run(*words.split(), *target)
    sentence = re.match(rb"weft: [^\n]+[;:]\s[^\n]+", shown.stderr)
    return len(shown.stdout.splitlines()) > 1 or sentence is not None
