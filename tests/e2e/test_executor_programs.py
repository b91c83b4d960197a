"""Programs that use `weft.Executor`: what they define, their environment, their end."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


PLACE = """
import os, shutil
def place():
    names = ("MYVAR", "HOME", "OMP_NUM_THREADS", "WEFT_TOKEN", "WEFT_DATABASE")
    found = {name: os.environ.get(name) for name in names}
    return {**found, "tool": shutil.which("mytool"), "data": open("data.csv").read()}
"""
OF_EXECUTOR = """
import json, sys, weft
options = {"resources": {"cpu": 0.5, "memory": "32Mi"}, **json.loads(sys.argv[1])}
with weft.Executor(**options) as executor:
    said = executor.submit(place)
    print(json.dumps(said.result() if said.exception() is None else repr(said.exception())))
"""


@pytest.fixture
def at_home(tmp_path: Path, weft: Weft) -> tuple[Path, dict[str, str]]:
    """Make a directory and an environment as people have them."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "mytool").write_text("#!/bin/sh\n")
    (tools / "mytool").chmod(0o755)
    (tmp_path / "data.csv").write_text("1,2\n")
    token = json.loads((weft.home / "client.json").read_text())["token"]
    return tmp_path, weft.environment(
        {
            "MYVAR": "mine",
            "HOME": str(tmp_path),
            "PATH": f"{tools}:{os.environ['PATH']}",
            "WEFT_TOKEN": token,
            "WEFT_DATABASE": "k",
        }
    )


def said_by(program: str, at_home: tuple[Path, dict[str, str]], **given: object) -> Any:  # noqa: ANN401 (any JSON)
    directory, env = at_home
    done = subprocess.run(
        [sys.executable, "-c", PLACE + program, json.dumps(given)],
        check=False,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        env=env,
        cwd=directory,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_calls_have_what_the_program_has_and_no_secret_of_weft(
    at_home: tuple[Path, dict[str, str]],
) -> None:
    directory, env = at_home
    there = {"MYVAR": "mine", "HOME": str(directory), "tool": str(directory / "tools/mytool")}
    usual = {**there, "data": "1,2\n", "WEFT_TOKEN": None, "WEFT_DATABASE": None}
    assert said_by(OF_EXECUTOR, at_home) == {**usual, "OMP_NUM_THREADS": None}
    own = said_by(OF_EXECUTOR, at_home, env={"MYVAR": "of the call", "OMP_NUM_THREADS": "2"})
    assert own == {**usual, "MYVAR": "of the call", "OMP_NUM_THREADS": "2"}
    assert "FileNotFoundError" in said_by(OF_EXECUTOR, at_home, inherit_env=False)
    clean = directory, {**env, "WEFT_CLEAN_ENV": "true"}
    assert "FileNotFoundError" in said_by(OF_EXECUTOR, clean)


def test_calls_go_on_where_the_directory_is_missing(
    at_home: tuple[Path, dict[str, str]],
) -> None:
    """As on another host, which does not have the directory of the program."""
    program = """
import os, shutil, weft
executor = weft.Executor(resources={"cpu": 0.5, "memory": "32Mi"})
gone = os.getcwd()
shutil.rmtree(gone)
print(int(executor.submit(os.getcwd).result() != gone))
"""
    assert said_by(program, at_home) == 1
