"""What becomes of running jobs when `weft up` stops, is killed and starts again."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from up.weft_up import DEADLINE_S, get, kill, post, processes_of, run_weft, up
from worker.spawner_process import until_gone

pytestmark = pytest.mark.heavy


def submit(home: Path, script: str) -> int:
    """Submit one job; return its batch."""
    jobs = [{"command": ["sh", "-c", script], "resources": {"cpu": "100m", "memory": "16Mi"}}]
    batch: int = post(home, "/v1/batches", {"name": "test", "jobs": jobs})["id"]
    return batch


def opened(fifo: Path) -> str:
    """Wait until a job says something through a named pipe."""
    with fifo.open() as reader:
        return reader.readline().strip()


def until_job(home: Path, batch: int, state: str) -> Any:  # noqa: ANN401 (a document)
    """Ask until the batch's one job is in a state."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        job = get(home, f"/v1/batches/{batch}/jobs/1")
        if job["state"] == state:
            return job
        assert time.monotonic() < deadline, job


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "said"
    os.mkfifo(path)
    return path


def test_running_job_is_stopped_with_weft_and_runs_again_at_the_next_start(
    home: Path, fifo: Path, record_property: Callable[[str, object], None]
) -> None:
    with up(home) as weft:
        weft.until_ready()
        batch = submit(home, f"echo $$ > {fifo}; [ -e {home}/go ] || sleep 1000")
        opened(fifo)
        weft.signal(signal.SIGINT)
        stopped = weft.until("up.stopped")
        weft.finish()
        left = processes_of(home)
    record_property("stop_ms", stopped["ms"])
    (home / "go").touch()
    with up(home) as weft:
        weft.until_ready()
        opened(fifo)
        job = until_job(home, batch, "success")

    assert left == {}
    assert job["attempt"] == 2


def test_job_that_ignores_sigterm_does_not_hold_the_stop_up(home: Path, fifo: Path) -> None:
    with up(home) as weft:
        weft.until_ready()
        submit(home, f"trap '' TERM; echo x > {fifo}; while :; do sleep 1000; done")
        opened(fifo)
        weft.signal(signal.SIGTERM)
        stopped = weft.until("up.stopped")
        weft.finish()

        assert processes_of(home) == {}
        # Far below the grace of 10 s that a cancel would give it.
        assert stopped["ms"] < 8000


def test_detached_job_runs_on_and_is_adopted(home: Path, fifo: Path) -> None:
    with up(home, "--detach-jobs") as weft:
        weft.until_ready()
        batch = submit(home, f"echo $$ > {fifo}; read answer < {fifo}; exit 0")
        opened(fifo)
        run_weft("down", "--home", str(home))
        weft.until("up.stopped")
        weft.finish()
        spawners = processes_of(home)
        with up(home, "--detach-jobs") as again:
            again.until_ready()
            running = get(home, f"/v1/batches/{batch}/jobs/1")
            fifo.write_text("go on\n")
            job = until_job(home, batch, "success")

    assert spawners
    assert (running["state"], running["attempt"]) == ("running", 1)
    assert job["attempt"] == 1
    until_gone(*spawners)


def test_killed_agent_lets_the_job_run_on(home: Path, fifo: Path) -> None:
    with up(home) as weft:
        weft.until_ready()
        batch = submit(home, f"echo $$ > {fifo}; read answer < {fifo}; exit 0")
        opened(fifo)
        os.kill(weft.pid("worker"), signal.SIGKILL)
        weft.until_ready_again("worker")
        fifo.write_text("go on\n")
        job = until_job(home, batch, "success")

    assert job["attempt"] == 1


def test_job_goes_on_by_itself_after_a_kill_of_everything(home: Path, fifo: Path) -> None:
    with up(home) as weft:
        weft.until_ready()
        batch = submit(home, f"echo $$ > {fifo}; [ -e {home}/go ] || sleep 1000")
        opened(fifo)
        everything = [weft.process.pid, *processes_of(home)]
        kill(everything)
        weft.finish()
        (home / "go").touch()
        with up(home) as again:
            again.until_ready()
            opened(fifo)
            job = until_job(home, batch, "success")

    assert job["attempt"] == 2
