"""A worker with a home of its own: its jobs run, and their output is said to be elsewhere."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import weft
from up.weft_up import DEADLINE_S, WEFT, run_weft, temporary_home, up
from weft.core.errors import OutputElsewhere
from weft.run.home import Home

pytestmark = pytest.mark.heavy

CPU = ("--cpu", "3")
"""More than the worker of `weft up` has here."""


@contextmanager
def worker_apart(home: Path, other: Path, cores: int = 4) -> Iterator[None]:
    """Run a worker on the database of `home`, with another home."""
    dsn = Home(home).secrets()["weft_worker"]
    process = subprocess.Popen(
        [WEFT, "worker", "--home", other, "--worker-cpu", str(cores)],
        env={**os.environ, "WEFT_DATABASE": dsn, "WEFT_WORKER_NAME": f"apart-{cores}"},
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        assert any("worker.registered" in line for line in process.stderr), "it did not register"
        yield
    finally:
        process.terminate()
        process.wait(DEADLINE_S)
        process.stderr.close()


@pytest.fixture(scope="module")
def homes() -> Iterator[tuple[str, str]]:
    """Give the home of a server, and that of the worker that takes the jobs of this test."""
    with temporary_home() as home, up(home, "--worker-cpu", "2") as server:
        server.until_ready()
        with temporary_home() as other, worker_apart(home, other):
            yield str(home), str(other)


def test_run_says_where_the_output_is(homes: tuple[str, str]) -> None:
    home, other = homes
    spoke = run_weft("run", "--home", home, *CPU, "--", "echo", "hello")
    failed = run_weft("run", "--home", home, *CPU, "--", "sh", "-c", "echo hello; exit 7")
    silent = run_weft("run", "--home", home, *CPU, "--", "true")

    assert (spoke.returncode, spoke.stdout) == (4, "")
    assert f"is on host {socket.gethostname()}" in spoke.stderr
    assert f"{other}/logs" in spoke.stderr
    assert failed.returncode == 7
    assert "is on host" in failed.stderr
    assert (silent.returncode, silent.stderr) == (0, "")


def test_each_says_which_outputs_are_missing(homes: tuple[str, str], tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_text("a\nb\nc\n")
    done = run_weft("each", "--home", homes[0], *CPU, "--file", str(lines), "--", "echo", "{}")

    assert (done.returncode, done.stdout) == (1, "")
    assert "3 succeeded, 3 without their output" in done.stderr
    assert "is on host" in done.stderr


def test_logs_of_such_a_job_are_refused(homes: tuple[str, str]) -> None:
    home = homes[0]
    run = run_weft("run", "--home", home, *CPU, "--json", "--", "echo", "hello")
    job = f"b{json.loads(run.stdout)['batch_id']}.j1"
    answers = [
        run_weft("logs", "--home", home, job, *more)
        for more in ((), ("--follow",), ("--json",), ("--stream", "stdout"), ("--attempt", "1"))
    ]
    waited = run_weft("wait", "--home", home, job)

    assert [one.returncode for one in answers] == [4] * 5
    assert all("is on host" in one.stderr for one in answers)
    assert waited.returncode == 0


def test_result_of_a_function_is_not_taken_for_none(homes: tuple[str, str]) -> None:
    with (
        weft.Executor(resources={"cpu": 3}, home=Path(homes[0])) as executor,
        pytest.raises(OutputElsewhere, match="is on host"),
    ):
        executor.submit(abs, -1).result(DEADLINE_S)


def test_worker_that_shares_the_home_is_read(homes: tuple[str, str]) -> None:
    with temporary_home() as other:
        Home(other).prepare()
        (other / "logs").rmdir()
        (other / "logs").symlink_to(Path(homes[0]) / "logs")
        with worker_apart(Path(homes[0]), other, cores=6):
            done = run_weft("run", "--home", homes[0], "--cpu", "5", "--", "echo", "hello")

    assert (done.returncode, done.stdout) == (0, "hello\n")
