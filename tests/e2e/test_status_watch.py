"""`weft status --watch` as a person uses it: on a terminal, to the end or to Ctrl-C."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from e2e.conftest import Weft, kill_api
from e2e.terminal import on_terminal, script_of

pytestmark = pytest.mark.heavy
JOBS = """
name: watched
jobs:
  - {{name: first, script: "read code <{0}/1; exit $code"}}
  - {{name: second, script: "read code <{0}/2; exit $code"}}
"""


class Held(NamedTuple):
    """A batch of two jobs, each of which ends with the exit code that its pipe is told."""

    name: str
    pipes: "tuple[IO[str], IO[str]]"

    def end(self, number: int, code: int) -> None:
        self.pipes[number].write(f"{code}\n")
        self.pipes[number].close()


@pytest.fixture
def held(weft: Weft, tmp_path: Path) -> Iterator[Held]:
    for name in ("1", "2"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "jobs.yaml").write_text(JOBS.format(tmp_path))
    done = weft.run("submit", str(tmp_path / "jobs.yaml"))
    assert done.returncode == 0, done.stderr
    name = done.stdout.decode().strip()
    with ExitStack() as opened:  # a pipe opens when its job reads
        first, second = (opened.enter_context((tmp_path / one).open("w")) for one in ("1", "2"))
        yield Held(name, (first, second))
        weft.run("cancel", name)


def test_ctrl_c_leaves_and_the_jobs_run_on(weft: Weft, held: Held) -> None:
    with on_terminal(script_of("status", "-w", held.name), weft.environment()) as terminal:
        terminal.until(f"{held.name} [")
        terminal.until("0/2, 2 running")
        terminal.interrupt()
        code = terminal.finish()
    said = " ".join(terminal.shown.split())
    held.end(0, 0)
    held.end(1, 0)
    waited = weft.run("wait", held.name)

    assert code == 130
    assert f"{held.name} runs on; `weft cancel {held.name}` ends it" in said
    assert "Traceback" not in said
    assert waited.returncode == 0


@pytest.mark.parametrize("last", [0, 3])
def test_it_ends_with_the_batch_though_the_api_is_restarted(
    weft: Weft, held: Held, last: int
) -> None:
    """It ends as `weft wait` does, after the status that is printed without it."""
    with on_terminal(script_of("status", "--watch", held.name), weft.environment()) as terminal:
        terminal.until("0/2, 2 running")
        kill_api(weft)
        held.end(0, 0)
        terminal.until("50% 1/2, 1 running")
        held.end(1, last)
        terminal.until("Batch")
        code = terminal.finish()
    waited = weft.run("wait", held.name)
    last_screen = re.sub("\x1b\\[[0-9;]*m", "", terminal.shown.rpartition("\x1b[2K")[2])

    assert code == waited.returncode == (1 if last else 0)
    assert last_screen.split()[:2] == ["Batch", held.name]
    assert ("exit code 3: 1" in last_screen) == bool(last)
    assert "Traceback" not in terminal.shown


def test_a_program_reads_each_change_as_a_document(weft: Weft, held: Held) -> None:
    with weft.started("status", "-w", held.name, "--json") as watching:
        begun = json.loads(watching.stdout.readline())
        held.end(0, 0)
        held.end(1, 3)
        documents = [json.loads(line) for line in watching.stdout]
        code = watching.wait()

    assert not begun["complete"]
    assert (documents[-1]["complete"], documents[-1]["state"]) == (True, "failure")
    assert code == 1
