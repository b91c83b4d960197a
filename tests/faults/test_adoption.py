"""Jobs that outlive the agent, and those that are stopped or left alone with the supervisor."""

import os
import signal
import time
from pathlib import Path

import pytest

from faults.books import query
from faults.siege import Batch, Siege, besieged
from faults.test_two_workers import second_worker
from faults.waiting import until
from up.weft_up import DEADLINE_S, post, processes_of, temporary_home

LONG = 6
QUICK = 500


def submit_gated(siege: Siege, gate: Path) -> Batch:
    """Submit jobs that wait for a gate, with short ones behind; return when all of those run."""
    evidence = siege.evidence()
    jobs = [evidence.gated(gate) for _ in range(LONG)]
    jobs += [evidence.quick() for _ in range(QUICK)]
    batch = siege.submit(evidence, jobs)
    until(lambda: len(begun(batch)) == LONG, "the long jobs run", explain=siege.tail)
    return batch


def begun(batch: Batch) -> dict[int, int]:
    """Return the process of each long job that has begun."""
    lines = batch.evidence.lines()
    return {line.job_id: line.pid for line in lines if line.job_id <= LONG}


def stop(siege: Siege, number: signal.Signals) -> None:
    """Stop a weft with all its parts; the table shows how long that took."""
    siege.weft.signal(number)
    siege.note_stop(siege.weft.until("up.stopped")["ms"] / 1000)
    siege.weft.finish()


def go_on(siege: Siege, batch: Batch) -> None:
    """Start it again, and wait until the batch is complete."""
    started_at = time.monotonic()
    siege.start_again()
    siege.until_work_goes_on(batch, started_at)
    siege.until_complete(batch)


def test_agent_killed_adopts_what_runs(siege: Siege) -> None:
    gate = siege.home.parent / "gate"
    batch = submit_gated(siege, gate)
    pids = begun(batch)
    for _ in range(3):
        siege.strike("agent")

    gate.touch()
    siege.until_complete(batch)
    books = siege.prove(batch)

    assert {job_id: books.successes[job_id] for job_id in pids} == dict.fromkeys(pids, 1)
    assert begun(batch) == pids


def test_stopped_weft_stops_its_jobs_and_runs_them_again(siege: Siege) -> None:
    gate = siege.home.parent / "gate"
    batch = submit_gated(siege, gate)
    stop(siege, signal.SIGINT)

    assert processes_of(siege.home) == {}
    assert batch.evidence.processes() == {}
    gate.touch()
    go_on(siege, batch)
    books = siege.prove(batch, may_lose=True)
    assert {books.successes[job_id] for job_id in range(1, LONG + 1)} == {2}


def test_detached_jobs_run_on_and_are_adopted(recorded: dict[str, object]) -> None:
    with temporary_home() as home, besieged(home, "--detach-jobs", recorded=recorded) as siege:
        gate = siege.home.parent / "gate"
        batch = submit_gated(siege, gate)
        pids = begun(batch)
        stop(siege, signal.SIGINT)
        lived = batch.evidence.processes()
        gate.touch()
        go_on(siege, batch)
        books = siege.prove(batch)

        assert len(lived) >= LONG
        assert {job_id: books.successes[job_id] for job_id in pids} == dict.fromkeys(pids, 1)
        assert begun(batch) == pids


@pytest.mark.parametrize("part", ["weft", "weft --detach-jobs", "api", "driver", "worker"])
def test_stop_in_the_midst_of_short_jobs(part: str, recorded: dict[str, object]) -> None:
    what, *options = part.split()
    with temporary_home() as home, besieged(home, *options, recorded=recorded) as siege:
        evidence = siege.evidence()
        batch = siege.submit(evidence, evidence.mix(5000, seed=1))
        siege.until_ran(batch, 0.3)
        if what == "weft":
            stop(siege, signal.SIGTERM)
            go_on(siege, batch)
        else:
            pid, told_at = siege.weft.pid(what), time.monotonic()
            os.kill(pid, signal.SIGTERM)
            siege.weft.until("up.role_ended", started_pid=pid, end="exit code 0")
            siege.note_stop(time.monotonic() - told_at)
            siege.until_work_goes_on(batch, told_at)
            siege.until_complete(batch)
        siege.prove(batch, may_lose=not options)


def test_stop_of_a_linked_worker_in_the_midst_of_short_jobs(siege: Siege) -> None:
    base, terms = siege.home.parent, {"name": "out", "scopes": ["work"], "pool": "default"}
    token, url = base / "token", siege.weft.until_ready()
    token.touch(0o600)
    token.write_text(post(siege.home, "/v1/tokens", terms)["token"])
    link = {"WEFT_HOME": str(base / "outside"), "WEFT_TOKEN_FILE": str(token), "WEFT_CONNECT": url}
    with second_worker(siege, **link) as worker:
        evidence = siege.evidence()
        batch = siege.submit(evidence, evidence.mix(5000, seed=1))
        siege.until_ran(batch, 0.3)
        told_at = time.monotonic()
        worker.terminate()
        worker.communicate(timeout=DEADLINE_S)
        siege.note_stop(time.monotonic() - told_at)
        siege.until_work_goes_on(batch, told_at)
        siege.until_complete(batch)
    siege.prove(batch, may_lose=True)

    ran_on = query(siege.home, "SELECT DISTINCT incarnation_id FROM weft.attempt")
    assert (worker.returncode, len(ran_on)) == (0, 2)
