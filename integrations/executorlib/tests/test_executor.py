"""The executor from within a program, on the weft of `WEFT_HOME`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from executorlib import get_item_from_future
from weft_executorlib import WeftExecutor

STARTED_AGAIN = """
import os, sys, time
from weft_executorlib import WeftExecutor

def write(name, wait):
    open("ran", "a").write(name)
    while wait and not os.path.exists("go"):
        time.sleep(0.05)
    return name

with WeftExecutor(cache_directory="kept") as executor:
    first = executor.submit(write, "a", False)
    first.result()
    print("first", flush=True)
    print(executor.submit(write, "b", True).result())
"""


def add(a: int, b: int) -> int:
    return a + b


def fail() -> None:
    raise ValueError("no such gene", 3)


def test_futures_are_arguments() -> None:
    with WeftExecutor() as executor:
        first = executor.submit(add, 1, 2)
        second = executor.submit(add, first, b=first)
        parts = executor.submit(lambda n: {"low": n - 1}, second)
        low = get_item_from_future(parts, "low")
        batches = executor.batched([executor.submit(add, n, low) for n in (1, 2, 3)], 2)

        assert second.result() == 6
        assert sorted(sum((batch.result() for batch in batches), [])) == [6, 7, 8]  # noqa: RUF017
        assert list(executor.map(add, [1, 2], [3, 4])) == [4, 6]


def test_a_call_reserves_what_it_says(tmp_path: Path) -> None:
    with WeftExecutor(resource_dict={"memory": "256Mi"}) as executor:
        wanted = {"cores": 1, "threads_per_core": 2, "cwd": str(tmp_path)}
        future = executor.submit(
            lambda: (os.environ["OMP_NUM_THREADS"], str(Path.cwd())), resource_dict=wanted
        )
        assert future.result() == ("2", str(tmp_path))
        assert executor.submit(os.getcwd).result() == str(Path.cwd())


@pytest.mark.parametrize(
    ("resource_dict", "words"),
    [({"cores": 2}, "threads_per_core"), ({"num_nodes": 3}, "num_nodes"), ({"foo": "x"}, "foo")],
)
def test_what_weft_has_not_is_refused(resource_dict: dict[str, int], words: str) -> None:
    with WeftExecutor() as executor, pytest.raises(ValueError, match=words):
        executor.submit(add, 1, 2, resource_dict=resource_dict)


def test_a_failure_names_its_job_and_fails_what_needs_it(tmp_path: Path) -> None:
    with WeftExecutor(resource_dict={"error_log_file": str(tmp_path / "errors")}) as executor:
        failed = executor.submit(fail)
        error, next_error = failed.exception(), executor.submit(add, failed, 1).exception()

        assert isinstance(error, ValueError)
        assert error.args == ("no such gene", 3)
        assert next_error is error
        assert "more: weft logs b" in error.__notes__[0]
        assert "no such gene" in (tmp_path / "errors").read_text()


def test_a_job_that_dies_is_told() -> None:
    with WeftExecutor() as executor:
        error = executor.submit(os._exit, 3).exception()

        assert error is not None
        assert "weft logs b" in f"{error} {error.__notes__}"


def test_a_program_that_was_killed_takes_what_had_ended(tmp_path: Path) -> None:
    line = [sys.executable, "-c", STARTED_AGAIN]
    with subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "first\n"
        process.kill()
    (tmp_path / "go").touch()
    done = subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, text=True)

    assert done.stdout == "first\nb\n"
    assert (tmp_path / "ran").read_text().count("a") == 1


def test_ctrl_c_cancels_what_runs(tmp_path: Path) -> None:
    program = f"""
import pathlib, signal, time
from weft_executorlib import WeftExecutor
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored below a shell's `&`
def wait():
    pathlib.Path({str(tmp_path / "began")!r}).touch()
    time.sleep(600)
with WeftExecutor() as executor:
    executor.submit(wait).result()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True
    ) as process:
        while not (tmp_path / "began").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)

    assert "KeyboardInterrupt" in told
