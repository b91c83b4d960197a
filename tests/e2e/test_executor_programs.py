"""Programs that use `weft.Executor`: what they define, their environment, their end."""

import re
import signal
import subprocess
import sys
import threading
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.conftest import Weft, until

pytestmark = pytest.mark.heavy

WITHIN_S = 60


def test_calls_are_waited_for_at_the_end_of_a_program(weft: Weft) -> None:
    program = """
import weft
executor = weft.Executor(resources={"cpu": 0.5, "memory": "32Mi"})
executor.submit(print, "called").add_done_callback(lambda one: print("ended", one.result()))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        env=weft.environment(),
    )

    assert (done.returncode, done.stdout) == (0, "ended None\n"), done.stderr


OF_THE_PROGRAM = """
import dataclasses, enum, weft

class Colour(enum.Enum):
    RED = 1

class Wrong(Exception):
    pass

@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    colour: Colour = Colour.RED

    def moved(self):
        return Point(self.x + 1, self.colour)

def move(point):
    assert isinstance(point, Point) and point.colour is Colour.RED
    return point.moved()

def fail(point):
    raise Wrong(point)

def apply(function, value):
    return function(value)

moved = Point.moved
with weft.Executor(resources={"cpu": 0.5, "memory": "32Mi"}) as executor:
    print(executor.submit(move, Point(1)).result() == Point(2))
    print(list(executor.map(move, [Point(1), Point(2)])) == [Point(2), Point(3)])
    print(executor.submit(apply, move, Point(7)).result() == Point(8))
    error = executor.submit(fail, Point(5)).exception()
    print(type(error) is Wrong, error.args == (Point(5),))
    print(executor.submit(move, Point(1)).result().colour is Colour.RED, Point.moved is moved)
"""


@pytest.mark.parametrize("given", [["script.py"], ["-c", OF_THE_PROGRAM]])
def test_what_the_program_defines_goes_there_and_comes_back(
    weft: Weft, tmp_path: Path, given: list[str]
) -> None:
    """In a script, and where there is no file, as in a notebook."""
    (tmp_path / "script.py").write_text(OF_THE_PROGRAM)
    done = subprocess.run(
        [sys.executable, *given],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        env=weft.environment(),
    )

    assert done.stdout.split() == ["True"] * 7, done.stderr


def test_calls_after_the_end_of_a_program_are_refused(weft: Weft) -> None:
    program = """
import atexit, weft
atexit.register(lambda: executor.submit(print, "lost"))
executor = weft.Executor()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        env=weft.environment(),
    )

    assert "RuntimeError: cannot schedule new futures after interpreter shutdown" in done.stderr


def test_functions_find_the_packages_of_the_callers_environment(
    weft: Weft, tmp_path: Path
) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    (packages,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (packages / "only_here.py").write_text("def answer():\n    return 42\n")
    known = [entry for entry in sys.path if entry.endswith(("site-packages", "src"))]
    (packages / "weft.pth").write_text("\n".join(known))
    program = """
import only_here, sys, weft
with weft.Executor(resources={"cpu": 0.5, "memory": "32Mi"}) as executor:
    print(executor.submit(only_here.answer).result())
    print(executor.submit(lambda: sys.executable).result() == sys.executable)
"""
    done = subprocess.run(
        [tmp_path / "venv" / "bin" / "python", "-c", program],
        check=False,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        env=weft.environment(),
    )

    assert done.stdout == "42\nTrue\n", done.stderr


INTERRUPTED = """
import pathlib, sys, threading, weft

def touch_and_wait(path):
    pathlib.Path(path).touch()
    threading.Event().wait()

executor = weft.Executor(resources={"cpu": 0.5, "memory": "32Mi"})
future = executor.submit(touch_and_wait, sys.argv[1])
"""


def press_ctrl_c_until(process: "subprocess.Popen[bytes]", is_so: Callable[[], bool]) -> None:
    """Press it, and again after a second: an interpreter that is about to wait overlooks one."""
    never = threading.Event()
    for tick in range(WITHIN_S * 50):
        if is_so():
            return
        if tick % 50 == 0:
            process.send_signal(signal.SIGINT)
        never.wait(0.02)
    raise AssertionError(is_so)


@pytest.mark.parametrize("end", ["with executor: future.result()", "executor.shutdown()", ""])
def test_ctrl_c_says_what_the_next_one_does(weft: Weft, tmp_path: Path, end: str) -> None:
    told = tmp_path / "told"
    with (
        told.open("w") as stderr,
        subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED + end, tmp_path / "runs"],
            stderr=stderr,
            env=weft.environment(),
        ) as process,
    ):
        until((tmp_path / "runs").exists)
        press_ctrl_c_until(process, lambda: "Ctrl-C again cancels it\n" in told.read_text())
        press_ctrl_c_until(process, lambda: process.poll() is not None)

    words = told.read_text()
    batch = re.search(r"^weft: waiting for 1 job of (b\d+); Ctrl-C again", words, re.MULTILINE)
    assert batch is not None, words
    assert f"weft: cancelling {batch[1]}" in words
    assert weft.run("wait", batch[1]).returncode == 1
    assert b"cancelled" in weft.run("status", batch[1]).stdout


def test_the_second_ctrl_c_cancels_whenever_it_comes(weft: Weft, tmp_path: Path) -> None:
    """Also between the words about the first one and the wait."""
    end = "executor._explain_interrupt(); raise KeyboardInterrupt"
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED + end, tmp_path / "runs"],
        check=False,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        env=weft.environment(),
    )

    told = [line for line in done.stderr.splitlines() if line.startswith("weft: ")]
    assert told[0].startswith("weft: waiting for 1 job of ")
    assert told[1].startswith("weft: cancelling ")
