"""`weft top` as a person uses it: on terminals of three sizes, by keys."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import PROGRAM, Weft, until
from e2e.tmux import on_tmux, words_of

pytestmark = pytest.mark.heavy
SIZES = [(40, 12), (80, 24), (120, 40), (200, 50)]
TOP = words_of([*PROGRAM, "top"])
SAYS = r"printf '\\033]0;owned\\007\\033[2J\\033[31mred\\033[0m \\342\\200\\256talking\\n'"
"""A title, an empty screen, a colour and the mark that turns the writing round."""
JOBS = f"""
name: "<b>[red]nightly"
jobs:
  - {{name: talks, script: "{SAYS}; sleep 600"}}
  - {{name: fails, script: "exit 3"}}
  - {{name: waits, command: ["true"], parents: [1]}}
"""


@pytest.fixture
def batch(weft: Weft, tmp_path: Path) -> Iterator[str]:
    """Submit a batch of which one job writes and runs on, one has failed, and one waits."""
    (tmp_path / "jobs.yaml").write_text(JOBS)
    name = weft.run("submit", str(tmp_path / "jobs.yaml")).stdout.decode().strip()
    until(lambda: states(weft, name) == {"running", "failed", "pending"})
    yield name
    weft.run("cancel", name)


def states(weft: Weft, batch: str) -> set[str]:
    """Return the states of the jobs of a batch."""
    return {job["state"] for job in json.loads(weft.run("jobs", batch, "--json").stdout)}


@pytest.mark.parametrize(("columns", "lines"), SIZES)
def test_keys_open_what_is_selected(
    weft: Weft, batch: str, tmp_path: Path, columns: int, lines: int
) -> None:
    """Jobs, an output, why it waits and back: on each size, with nothing that steers it."""
    with on_tmux(tmp_path, weft.environment(), columns=columns, lines=lines) as terminal:
        terminal.type(f"{TOP}\n")
        terminal.until(f"\n{batch} ", "q quit")
        terminal.press("Enter")
        jobs = terminal.until(f"jobs of {batch}", f"{batch}.j3")
        terminal.press("Enter")
        log = terminal.until("red", "talking", "follows" if columns > 40 else "search")
        terminal.press("Escape", "G", "w")
        terminal.until("waits for", gone="talking")
        terminal.press_until("2", "Worker", f"{batch}.j1")
        terminal.press_until("3", "no incidents")

        terminal.press_until("2", "Worker", f"{batch}.j1")
        terminal.press_until("r", "r does nothing here")
        terminal.press("q")
        terminal.until("bash-", gone="Worker")  # what is typed before that is lost
        terminal.type(f"clear; TERM=dumb {TOP}; echo en''d\n")
        terminal.until("\nb1 ", "end")  # the rows of the newest may be above the screen

    assert all(len(line) <= columns for line in (*jobs, *log))
    assert "\ufffdtalking" in "\n".join(log).replace(" ", "")


def test_a_batch_is_cancelled_after_a_yes(weft: Weft, batch: str, tmp_path: Path) -> None:
    with on_tmux(tmp_path, weft.environment(), columns=80, lines=24) as terminal:
        terminal.type(f"{TOP}\n")
        terminal.until(f"\n{batch} ")
        terminal.press_until("h", f"{batch}: held", "(held)")
        terminal.press_until("h", f"{batch}: released", gone="(held)")
        terminal.press_until("c", f"cancel {batch} <b>[red]nightly? 2 of its 3 jobs", "[y/N]")
        terminal.press_until("n", "nothing was done")
        before = states(weft, batch)
        terminal.press_until("r", "run the failed jobs (1)")
        terminal.press_until("y", "1 job runs again")
        terminal.press("c", "y")
        terminal.until(f"{batch}: cancelled", "3/3 100%")

    assert before == {"running", "failed", "pending"}


def test_a_query_filters_and_a_wrong_one_is_explained(
    weft: Weft, batch: str, tmp_path: Path
) -> None:
    with on_tmux(tmp_path, weft.environment(), columns=120, lines=24) as terminal:
        terminal.type(f"{TOP}\n")
        terminal.until(f"\n{batch} ")
        terminal.press_until("Enter", f"{batch}.j3")
        terminal.press("/")
        terminal.type("state = failed")
        terminal.press_until("Enter", "filter: state = failed", f"{batch}.j2", gone=f"{batch}.j3")
        terminal.press("/", "C-u")
        terminal.type("state =")
        terminal.press_until("Enter", "cannot be read", "column")
        terminal.press("/", "C-u", "Enter")
        terminal.until(f"{batch}.j3")
        terminal.press_until("f", "only running", f"{batch}.j1", gone=f"{batch}.j2")


@pytest.mark.parametrize("way", ["q", "C-c"])
def test_the_terminal_is_as_it_was(weft: Weft, tmp_path: Path, way: str) -> None:
    """The modes of the terminal, its earlier text and the place of its cursor."""
    with on_tmux(tmp_path, weft.environment(), columns=80, lines=24) as terminal:
        terminal.type(
            f"cd {tmp_path}; clear; echo before; stty -g >a; {TOP}; stty -g >b; echo end\n"
        )
        terminal.until("q quit")
        terminal.resize(100, 30)
        wide = terminal.until("q quit")
        terminal.press(way)
        left = terminal.until("end", gone="q quit")

    assert [line for line in left if line][-3:-1] == ["before", "end"]
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    assert len(wide) >= 24


def test_it_comes_back_after_the_server(tmp_path: Path) -> None:
    """It says that the server is away, and goes on with what happened meanwhile."""
    weft = Weft(tmp_path / "home")
    assert weft.run("up", "--port", "0", "--detach").returncode == 0
    try:
        with on_tmux(tmp_path, weft.environment(), columns=80, lines=24) as terminal:
            terminal.type(f"{TOP}\n")
            terminal.until("no batches yet")
            assert weft.run("down").returncode == 0
            terminal.until("no answer", "trying again")
            terminal.press("2", "?")
            terminal.until("batches, workers, incidents", "no answer")
            terminal.press("1")
            assert weft.run("up", "--port", "0", "--detach").returncode == 0
            weft.run("run", "--", "true")
            terminal.until("success", gone="no answer")
    finally:
        weft.run("down")
