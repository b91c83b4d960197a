"""Two workers: who takes jobs over, and which jobs are told what, while one is dead."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from faults.conftest import Facts
from faults.siege import Siege, besieged
from faults.waiting import until
from up.weft_up import DEADLINE_S, WEFT, kill, post, prove_audit, temporary_home
from weft import Client

LOST_AFTER_S = "10"
SCRIPT = """
exec 9>>"$1.lock"
flock -n 9 || echo twice >> "$1"
echo "attempt $WEFT_ATTEMPT_NO" >> "$1"
exec sleep 1000
"""
"""The lock is free when every process of the other attempt has ended."""


@contextmanager
def second_worker(siege: Siege, **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run `weft worker` beside that of `weft up`, until it has registered and beyond."""
    environ = {"WEFT_HOME": str(siege.home), **siege.environ, **environ}
    process = subprocess.Popen(
        [WEFT, "worker", "--worker-name", "two"],
        env={**os.environ, **environ},
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            sys.stderr.buffer.write(line)
            if b"worker.registered" in line:
                break
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE_S)


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@contextmanager
def job_on_two(recorded: Facts) -> Iterator[tuple[Siege, int, Callable[[], object]]]:
    """Run a job beside a second worker; give its spawner, and what waits until it runs again: it
    may do so when nothing of the first attempt lives.
    """
    with (
        temporary_home() as home,
        besieged(home, recorded=recorded, WEFT_LOST_AFTER_S=LOST_AFTER_S) as siege,
    ):
        said = home.parent / "said"

        def until_begun(n: int) -> None:
            until(lambda: len(lines_of(said)) >= n, f"{n} have begun", explain=siege.tail)

        job = {"command": ["sh", "-c", SCRIPT, "sh", str(said)], "resources": {"cpu": "100m"}}
        batch = post(home, "/v1/batches", {"jobs": [job]})["id"]
        until_begun(1)
        spawner = siege.spawner_pid()
        with second_worker(siege):
            yield siege, spawner, partial(until_begun, 2)
            post(home, f"/v1/batches/{batch}/cancel", {})
        prove_audit(home)

        assert lines_of(said) == ["attempt 1", "attempt 2"]


@pytest.mark.parametrize("killed", ["worker", "postgres"])
def test_spawner_that_is_stopped_leaves_no_job_to_run_twice(killed: str, recorded: Facts) -> None:
    """Its agent has to ask it what there is, and gets no answer."""
    with job_on_two(recorded) as (siege, spawner, until_again):
        os.kill(spawner, signal.SIGSTOP)
        siege.kill(killed)
        until_again()


def test_agent_that_is_stopped_leaves_no_job_to_run_twice(recorded: Facts) -> None:
    with job_on_two(recorded) as (siege, _, until_again):
        agent = [siege.weft.pid("worker")]
        siege.put_to_sleep(agent)
        until_again()
        siege.wake(agent)


@pytest.mark.parametrize("host", ["lives", "gone"])
def test_jobs_of_a_worker_killed_as_a_whole_run_again(host: str, recorded: Facts) -> None:
    """Its next agent says that the spawner is dead; without one, others wait for the grace."""
    with job_on_two(recorded) as (siege, spawner, until_again):
        supervisor = [siege.weft.process.pid] if host == "gone" else []
        siege.put_to_sleep(supervisor)
        kill([spawner, siege.weft.pid("worker")])
        killed_at = time.monotonic()
        until_again()
        siege.note_recovery(killed_at)
        siege.wake(supervisor)


SAYING = """
trap 'echo signal >> "$1"' USR1
echo begun >> "$1"
until grep -q signal "$1" && [ "$(cat "$WEFT_MESSAGES"/*)" = "one two " ]; do sleep 0.1; done
echo heard >> "$1"
"""
"""It ends when nothing that was sent to it was lost, and no message came twice."""


def test_commands_survive_the_agent(siege: Siege) -> None:
    n_jobs, home = 4, siege.home
    cpu_m = len(os.sched_getaffinity(0)) * 1000 // 2
    said = [home.parent / f"said-{number}" for number in range(n_jobs)]

    with second_worker(siege), Client(home=home) as client:
        bb = client.create_batch()
        cpu = {"cpu": f"{cpu_m}m"}
        jobs = [
            bb.create_job(["sh", "-c", SAYING, "sh", str(path)], resources=cpu) for path in said
        ]
        batch = bb.submit()
        until(
            lambda: all(job.status()["started_at"] for job in jobs), "all run", explain=siege.tail
        )
        workers = {job.attempts()[-1]["worker"] for job in jobs}
        for job in jobs:
            job.message("one ")
        siege.kill("agent")
        for job in jobs:
            job.message("two ")
            job.signal("USR1")
        siege.until_back("agent")
        ended = batch.wait(timeout_s=120)
        told = [
            sorted(one["message"] for one in commands_of(siege, batch.id, job.job_id))
            for job in jobs
        ]

    assert len(workers) == 2
    assert ended["state"] == "success"
    assert {tuple(dict.fromkeys(lines_of(path))) for path in said} == {
        ("begun", "signal", "heard")
    }
    heard = ["USR1 was delivered", *["a message of 4 B was delivered"] * 2]
    assert told == [heard] * n_jobs


def commands_of(siege: Siege, batch: int, job: int) -> list[dict[str, str]]:
    """Return what the history of a job says of its commands."""
    found = siege.ask(f"/v1/batches/{batch}/jobs/{job}/history")
    return [one for one in found["items"] if one["subtype"] in {"signal", "message"}]
