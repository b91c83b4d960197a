"""The agent with a real spawner and a store in memory."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import run

import pytest

from weft.core.scheduling.lease import QUEUE_S
from weft.core.states import Reason
from weft.plugins.runners.spawner.start import is_locked
from weft.ports.store import ClaimRequest
from weft.wire.spawner import ENDS
from weft.wire.spec import FunctionSpec, JobSpec
from weft_testing.until import until
from worker.spawner_process import marked, until_gone
from worker.worker_process import Worker, sh


def until_there(gate: Path) -> JobSpec:
    """Return a job that runs until a file is there."""
    return sh(f"while [ ! -e {gate} ]; do sleep 0.01; done; echo on")


async def test_job_runs_and_is_reported(worker: Worker) -> None:
    worker.store.submit(sh("echo hi; exit 3"))
    (report,) = await worker.store.until(1)

    assert (report.exit_code, report.reason) == (3, Reason.EXIT)
    assert worker.output(report) == b"hi\n"
    assert report.start_age_us is not None
    assert report.start_age_us >= report.end_age_us >= 0


async def test_environment_is_documented_and_small(worker: Worker) -> None:
    worker.store.submit(
        JobSpec(
            command=("/usr/bin/env",), env={"A": "b"}, trace_id="0af7651916cd43dd8448eb211c80319c"
        )
    )
    (report,) = await worker.store.until(1)

    lines = dict(line.split("=", 1) for line in worker.output(report).decode().splitlines())
    assert set(lines) == {
        "A",
        "HOME",
        "LANG",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TMPDIR",
        "USER",
        "TRACEPARENT",
        "WEFT_ATTEMPT",
        "WEFT_ATTEMPT_NO",
        "WEFT_BATCH",
        "WEFT_BLOCK_FILE",
        "WEFT_CHECKPOINT_DIR",
        "WEFT_GRACE_S",
        "WEFT_JOB",
        "WEFT_MESSAGES",
        "WEFT_NOTES",
        "WEFT_PRODUCTS",
        "WEFT_PROGRESS",
        "WEFT_TRACE_ID",
    }
    assert lines["WEFT_GRACE_S"] == "0.3"
    assert lines["WEFT_JOB"] == "b1.j1"
    assert lines["TRACEPARENT"].split("-")[1] == "0af7651916cd43dd8448eb211c80319c"


async def test_inherited_environment_replaces_the_small_one(worker: Worker) -> None:
    worker.store.submit(
        JobSpec(command=("/usr/bin/env",), inherit_env={"PATH": "/bin", "X": "1"}, env={"X": "2"})
    )
    (report,) = await worker.store.until(1)

    lines = dict(line.split("=", 1) for line in worker.output(report).decode().splitlines())
    assert lines["X"] == "2"
    assert "HOME" not in lines


@pytest.mark.parametrize(
    "script", ["#!/bin/sh\necho $0 | grep -c scripts", "echo 1", "echo 1\n" + "#" * 200_000]
)
async def test_scripts(worker: Worker, script: str) -> None:
    worker.store.submit(JobSpec(script=script))
    (report,) = await worker.store.until(1)

    assert worker.output(report) == b"1\n"


async def test_unknown_executor_is_a_bad_spec(worker: Worker) -> None:
    worker.store.submit(JobSpec(command=("true",), executor="magic"), sh("true"))
    first, second = await worker.store.until(2)

    assert (first.reason, first.start_age_us) == (Reason.BAD_SPEC, None)
    assert "magic" in first.message
    assert second.reason is None


LARGE = JobSpec(function=FunctionSpec(call="a:b", arguments=b"", arguments_digest="00" * 32))


async def test_other_jobs_do_not_wait_for_large_arguments(worker: Worker) -> None:
    """And a job may be cancelled before its arguments are there."""
    worker.store.submit(LARGE, sh("true"))
    (report,) = await worker.store.until(1)
    worker.store.cancel(1)
    cancelled, _ = await worker.store.until(2)

    assert (report.job_id, report.reason) == (2, None)
    assert cancelled.reason == Reason.CANCELLED
    assert list((worker.files.scratch / "arguments").iterdir()) == []


async def test_missing_arguments_are_said_to_be_missing(worker: Worker) -> None:
    worker.store.payloads.set()
    worker.store.submit(LARGE)
    (report,) = await worker.store.until(1)

    assert report.reason == Reason.BAD_SPEC
    assert "its arguments are missing" in report.message
    assert list((worker.files.scratch / "arguments").iterdir()) == []


async def test_short_jobs_flow_in_large_claims(worker: Worker) -> None:
    worker.store.submit(*(sh("true") for _ in range(600)))
    reports = await worker.store.until(600)

    assert {report.reason for report in reports} == {None}
    assert max(worker.store.claim_sizes) > 30


async def test_what_has_ended_is_reported_with_the_next_claim(worker: Worker) -> None:
    """So that a job that ends and the next one that begins cost one transaction."""
    worker.store.submit(*(sh("sleep 0.1") for _ in range(40)))
    reports = await worker.store.until(40)

    assert len(reports) == 40
    assert sum(worker.store.sets_with_claim) > 5


async def test_ends_that_open_a_limit_are_reported_with_the_next_claim(worker: Worker) -> None:
    """The first end tells; from then on the next job waits for one transaction, not for two."""
    worker.store.max_running = 1
    worker.store.submit(*(sh("true") for _ in range(8)))
    await worker.store.until(8)

    assert sum(worker.store.sets_with_claim) > 0


async def test_long_jobs_are_not_hoarded(worker: Worker) -> None:
    worker.store.submit(*(JobSpec(command=("sleep", "60")) for _ in range(50)))
    await worker.store.until_started(2)

    assert sum(worker.store.claim_sizes) == 2


async def test_leases_that_are_not_started_soon_are_handed_back(worker: Worker) -> None:
    """Short jobs promise a quick pace; then long ones come."""
    worker.store.submit(*(sh("true") for _ in range(200)))
    worker.store.submit(*(JobSpec(command=("sleep", "60")) for _ in range(50)))
    await worker.store.until(200)
    held = [job for job in worker.store.jobs[200:] if job.owner is not None]
    if len(held) <= 3:
        return  # the claims happened to end with the short ones

    handed_back = await worker.store.until_handed_back(len(held) - 3)
    assert all(report.start_age_us is None for report in handed_back)


async def test_jobs_pass_one_that_waits_for_room(worker: Worker, tmp_path: Path) -> None:
    """As long as what came before it keeps it waiting; then it is next."""
    gate, other = tmp_path / "gate", tmp_path / "other"
    await worker.begin(until_there(gate))
    worker.store.submit(sh("true"), cpu_m=2000)
    worker.store.submit(sh("true"), until_there(other), sh("echo last"))
    *_, passed = await worker.store.until(1)
    await worker.store.until_started(2)
    gate.touch()
    await worker.store.until(2)
    assert not worker.store.jobs[1].is_over
    other.touch()
    await worker.store.until(5)

    assert passed.job_id == 3
    assert worker.store.jobs[4].attempt == 1


async def test_cancelled_jobs_are_killed_and_leases_dropped(worker: Worker) -> None:
    worker.store.submit(*(JobSpec(command=("sleep", "60")) for _ in range(2)))
    await worker.store.until_started(2)
    worker.store.cancel(1)

    (report,) = await worker.store.until(1)
    assert (report.job_id, report.reason) == (1, Reason.CANCELLED)


async def test_dead_agent_is_succeeded_and_jobs_are_adopted(
    worker: Worker, short_path: Path
) -> None:
    fifo = short_path / "fifo"
    os.mkfifo(fifo)
    await worker.begin(sh(f"cat {fifo}"), sh("sleep 0.05; echo done"), sh("echo third"))
    await worker.crash()
    worker.store.submit(sh("echo later"))
    await worker.start()
    await asyncio.to_thread(fifo.write_text, "through\n")

    reports = await worker.store.until(4)
    assert [report.reason for report in reports] == [None] * 4
    assert [job.attempt for job in worker.store.jobs] == [1] * 4
    assert worker.output(reports[0]) == b"through\n"
    assert len(worker.store.incarnations) == 1


async def test_ends_that_come_while_the_agent_registers_are_not_lost(
    worker: Worker, short_path: Path
) -> None:
    gate = short_path / "gate"
    worker.store.submit(*(until_there(gate) for _ in range(2)))
    await worker.store.until_started(2)
    left = marked(str(gate))
    await worker.crash()
    worker.store.is_away = True
    starting = asyncio.create_task(worker.start())
    await worker.store.until_refused(1)
    gate.touch()
    await asyncio.to_thread(until_gone, *left)
    worker.store.is_away = False
    await starting

    assert [report.reason for report in await worker.store.until(2)] == [None, None]


async def test_lease_that_the_spawner_never_heard_of_is_handed_back(worker: Worker) -> None:
    await worker.crash()
    worker.store.submit(sh("true"))
    await worker.store.claim_jobs(
        0, ClaimRequest(budget_cpu_m=1, budget_memory_mib=1, limit_jobs=1)
    )
    await worker.start()

    await worker.store.until(1)
    ends = worker.store.jobs[0].ends
    assert [end.reason for end in ends] == [Reason.PREEMPTED, None]
    assert ends[0].start_age_us is None


async def test_process_that_the_database_does_not_hold_is_killed(worker: Worker) -> None:
    await worker.begin(sh("sleep 4001.5"))
    left = marked("4001.5")
    assert left
    await worker.crash()
    worker.store.jobs[0].owner = None
    worker.store.jobs[0].is_over = True
    await worker.start()

    await asyncio.to_thread(until_gone, *left)


async def test_dead_spawner_takes_its_jobs_with_it_and_they_run_again(worker: Worker) -> None:
    marker = "4002.5"
    worker.store.submit(
        sh(f"setsid sleep {marker} & (env -i setsid sleep {marker} &) ; sleep {marker}")
    )
    await worker.store.until_started(1)
    left = marked(marker)
    (spawner,) = spawners_of(worker)
    os.kill(spawner, signal.SIGKILL)

    await worker.store.until_started(2)
    await asyncio.to_thread(until_gone, *left)
    assert len(worker.store.incarnations) == 2
    assert worker.store.jobs[0].attempt == 2


def spawners_of(worker: Worker) -> list[int]:
    return [
        pid
        for pid in marked(str(worker.files.socket))
        if not (Path(f"/proc/{pid}/comm").read_text().startswith("unshare"))
    ]


async def die(worker: Worker) -> None:
    """Kill the whole worker."""
    spawners = spawners_of(worker)
    await worker.crash()
    for pid in spawners:
        os.kill(pid, signal.SIGKILL)
    await asyncio.to_thread(until_gone, *spawners)


async def test_agent_and_spawner_dead_at_once(worker: Worker) -> None:
    await worker.begin(sh("sleep 4003.5"))
    left = marked("4003.5")
    await die(worker)
    await worker.start()

    await asyncio.to_thread(until_gone, *left)
    await worker.store.until_started(2)


def _swap(path: Path, old: bytes, new: bytes) -> None:
    path.write_bytes(path.read_bytes().replace(old, new))


FILES: dict[str, tuple[int, str, Callable[[Path], object]]] = {
    "as it was": (1, ENDS, lambda path: path),
    "torn": (1, ENDS, lambda path: path.write_bytes(path.read_bytes() * 2 + b"\0\0\1\0half")),
    "huge": (1, ENDS, lambda path: os.truncate(path, 1 << 40)),
    "cut": (2, ENDS, lambda path: os.truncate(path, path.stat().st_size - 1)),
    "a link": (2, ENDS, lambda path: path.symlink_to(path.rename(f"{path}.moved"))),
    "a pipe": (2, ENDS, lambda at: run(["sh", "-c", f"rm {at}; mkfifo {at}"], check=True)),
    "of a later attempt": (2, ENDS, lambda path: _swap(path, b"\x93\1\1\1", b"\x93\1\1\2")),
    "of another boot": (2, "", lambda path: _swap(path, b'"boot_id":"', b'"boot_id":"x')),
    "of another spawner": (2, "", lambda path: _swap(path, b'ation":"', b'ation":"x')),
}
"""What becomes of the file of ends or of the lock, and how often the job runs then."""


@pytest.mark.parametrize("file", FILES)
async def test_end_that_a_killed_worker_has_seen_is_told_once(
    worker: Worker, short_path: Path, file: str
) -> None:
    """Also if the next agent is killed while it tells; the last one finds nothing to tell."""
    gate, ends = short_path / "gate", Path(f"{worker.files.lock}{ENDS}")
    await worker.begin(until_there(gate))
    await worker.crash()
    gate.touch()
    await until(lambda: ends.stat().st_size > 0)
    await die(worker)
    runs, ending, change = FILES[file]
    change(Path(f"{worker.files.lock}{ending}"))
    worker.store.is_away = True
    starting = asyncio.create_task(worker.start())
    await worker.store.until_refused(1)
    starting.cancel()
    await die(worker)
    worker.store.is_away = False
    await worker.start()
    (report,) = await worker.store.until(1)
    await die(worker)
    await worker.start()

    (job,) = worker.store.jobs
    assert (job.attempt, len(job.ends), report.reason) == (runs, 1, None)
    assert worker.output(report) == b"on\n"


async def test_store_away_for_a_while_fails_nothing(worker: Worker) -> None:
    worker.store.submit(*(sh("sleep 0.02") for _ in range(20)))
    await worker.store.until(4)
    worker.store.is_away = True
    await asyncio.to_thread(until_gone, *marked("sleep\0000.02"))
    worker.store.is_away = False

    reports = await worker.store.until(20)
    assert {report.reason for report in reports} == {None}
    assert {job.attempt for job in worker.store.jobs} == {1}


async def test_worker_declared_lost_kills_all_and_begins_anew(worker: Worker) -> None:
    await worker.stop()
    worker.heartbeat_s = 0.05
    await worker.start()
    await worker.begin(sh("sleep 4004.5"))
    left = marked("4004.5")
    incarnations = len(worker.store.incarnations)
    worker.store.is_lost = True

    await worker.store.until_started(2)
    await asyncio.to_thread(until_gone, *left)
    assert len(worker.store.incarnations) == incarnations + 1


async def test_agent_of_an_incarnation_that_was_declared_lost_begins_anew(worker: Worker) -> None:
    await worker.begin(sh("sleep 4007.5"))
    left = marked("4007.5")
    await worker.crash()
    worker.store.ended_incarnations.update(worker.store.incarnations)
    worker.store.jobs[0].owner = None
    await worker.start()

    await asyncio.to_thread(until_gone, *left)
    await worker.store.until_started(2)


async def test_an_attempt_that_a_restored_database_gives_again_is_not_the_old_one(
    worker: Worker,
) -> None:
    """Whatever runs is ended, and the job begins in another incarnation."""
    await worker.begin(sh("sleep 4008.5"))
    left = marked("4008.5")
    job = worker.store.jobs[0]
    job.attempt, job.owner, job.spec = 0, None, sh("echo new")
    worker.store.notify("work", "")
    (report,) = await worker.store.until(1)

    await asyncio.to_thread(until_gone, *left)
    assert (report.reason, report.attempt) == (None, 2)
    assert worker.output(report) == b"new\n"
    assert len(worker.store.incarnations) == 2


async def test_worker_without_contact_kills_its_jobs_in_time(worker: Worker) -> None:
    """Before the database gives them to another worker, and even if the agent is dead."""
    await worker.stop()
    worker.fence_s = 0.3
    worker.heartbeat_s = 0.1
    await worker.start()
    await worker.begin(sh("sleep 4005.5; sleep 4006.5"))
    heartbeats = worker.store.heartbeats
    await worker.store.until_heartbeats(heartbeats + 5)
    left = marked("4005.5")
    assert left
    await worker.crash()

    await asyncio.to_thread(until_gone, *left)
    await worker.start()
    ends = await worker.store.until_ended(1)
    assert ends[0].reason == Reason.LOST


async def test_drain_ends_jobs_and_gives_them_back(worker: Worker) -> None:
    worker.store.submit(
        sh('trap "" TERM; while :; do sleep 0.01; done'), sh("sleep 60"), sh("true")
    )
    await worker.store.until_started(2)
    await worker.stop()

    assert [job.ends[-1].reason for job in worker.store.jobs[:2]] == [Reason.PREEMPTED] * 2
    assert all(job.owner is None for job in worker.store.jobs)
    assert len(worker.store.left) == 1
    assert not is_locked(worker.files.lock)


async def test_detached_jobs_go_on(worker: Worker, short_path: Path) -> None:
    gate = short_path / "gate"
    await worker.begin(until_there(gate))
    assert worker.agent is not None
    await worker.agent.detach()
    await worker.crash()
    assert is_locked(worker.files.lock)
    gate.touch()
    await worker.start()

    (report,) = await worker.store.until(1)
    assert (report.reason, worker.output(report)) == (None, b"on\n")


async def test_first_job_of_an_idle_worker_starts_at_once(worker: Worker) -> None:
    """A coarse bound, so that no timer can hide in the way; `weft bench latency` measures it."""
    ages = []
    for number in range(1, 11):
        begun = time.monotonic_ns()
        worker.store.submit(sh("true"))
        report = (await worker.store.until(number))[-1]
        assert report.start_age_us is not None
        ages.append(time.monotonic_ns() - begun)

    assert min(ages) < QUEUE_S * 1e9 / 3
