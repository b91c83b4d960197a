"""What engines' files and servers say that cannot be read, or that a job has put there; what
Slurm's states mean beside the marks of an attempt, and Nomad's allocations, from answers of Nomad
1.11; what sbatch refuses ends what it is said of.
"""

import asyncio
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest

from callbacks.receiver import answering, receiving
from cases import cases
from runners.directory_engine import DirectoryEngine
from runners.slurm_cluster import given_in
from weft.core.errors import Invalid, Unavailable
from weft.core.states import AttemptKey, Command, Phase, Reason
from weft.plugins.runners.remote.ends import Notes
from weft.plugins.runners.remote.engine import GuardedEngine
from weft.plugins.runners.remote.ssh import Answer
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored
from weft.ports.runner import Assignment
from weft.wire.spec import FunctionSpec, JobSpec
from weft_nomad.runner.client import NomadClient, WrongNomadAddress
from weft_nomad.runner.jobs import payload_of, status_of, why_unplaced
from weft_nomad.settings import NomadSettings
from weft_slurm.runner.commands import SlurmCommands, Task
from weft_slurm.runner.engine import SlurmEngine
from weft_slurm.runner.files import StagedFiles
from weft_slurm.runner.folder import (
    MARK_BYTES_MAX,
    Marks,
    SharedFiles,
    marks_of,
)
from weft_slurm.runner.statuses import ended, is_undecided, over
from weft_slurm.settings import SlurmSettings
from weft_testing.runner_suite import assignment

LIMITS = ExecutorLimits(grace_ms=1000, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)
GOOD, BAD = "weft-b1-j1-a1", "weft-b1-j2-a1"


def began(root: Path) -> Path:
    """Make the folders of two attempts that have begun; return that of the second's marks."""
    for name in (GOOD, BAD):
        (root / name / "run").mkdir(parents=True)
        (root / name / "run" / "started").write_text("17 2 n1\n")
    (root / GOOD / "run" / "ended").write_text("3\n")
    return root / BAD / "run"


class _Here:
    """Runs on this host what a login node would."""

    async def run(self, words: Sequence[str], said: str = "") -> Answer:
        done = await asyncio.to_thread(
            subprocess.run, words, input=said.encode(), capture_output=True, check=False
        )
        return Answer(done.returncode, done.stdout.decode(errors="replace"), "")


async def both_marks(root: Path) -> list[dict[str, Marks]]:
    """Return what both ways to the files say of the two attempts."""
    staged = StagedFiles(_Here(), str(root))  # type: ignore[arg-type]  # of it `run` is called
    async with asyncio.timeout(20):
        return [dict(await files.marks([GOOD, BAD])) for files in (SharedFiles(root), staged)]


async def test_task_that_slurm_begins_again_is_not_the_end_of_the_first(tmp_path: Path) -> None:
    """As that of a controller that was killed: the node kills the first script, not its job."""
    files, gate = SharedFiles(tmp_path), tmp_path / "gate"
    os.mkfifo(gate)
    await files.known()
    await files.put({GOOD: {"job": f"#!/bin/sh\necho >{gate}; read x <{gate}", "limit": ""}})
    words = ["sh", await files.add_array("one", [GOOD])]
    env = {"SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_JOB_ID": "17", "SLURMD_NODENAME": "n1"}
    first = await asyncio.create_subprocess_exec(*words, env={**os.environ, **env})
    await asyncio.to_thread(gate.read_text)
    first.kill()
    again = await asyncio.create_subprocess_exec(*words, env={**os.environ, **env})
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(again.wait(), 0.5)
    await asyncio.to_thread(gate.write_text, "\n")
    assert await asyncio.wait_for(again.wait(), 20) == 0
    task = Task(17, 0, "COMPLETED", "", "n1")
    assert over((await files.marks([GOOD]))[GOOD], task, 6.0).reason == Reason.LOST


SPOILED = {
    "a code that is none": "echo oops >ended",
    "a pipe": "mkfifo late ended",
    "a link to much": "head -c 100000 /dev/zero >big; ln -s big ended",
    "much": "head -c 100000 /dev/zero >ended",
    "bytes": "printf '1\\0002' >ended; printf '\\000\\001' >tmp.bin; printf '\\000' >started.x",
    "a name of two lines": "touch \"$(printf '17 9\\n17 9')\"; touch \"$(printf 'a\\nended')\"",
    "a directory": "mkdir ended late",
}


@pytest.mark.parametrize("script", SPOILED.values(), ids=SPOILED.keys())
async def test_what_a_job_writes_beside_its_marks_spoils_no_look(
    script: str, tmp_path: Path
) -> None:
    """Bad text is no mark; the neighbours' are read, and nobody waits."""
    run = began(tmp_path / "root")
    words = ["sh", "-c", f"cd {shlex.quote(str(run))} && {script}"]
    await asyncio.to_thread(subprocess.run, words, check=True)
    for marks in await both_marks(tmp_path / "root"):
        assert (marks[GOOD].exit_code, marks[GOOD].task) == (3, (17, 2))
        assert (marks[BAD].ended_s_ago, marks[BAD].exit_code) == (None, None)
        assert (marks[BAD].task, marks[BAD].is_late) == ((17, 2), False)


async def test_task_that_a_job_has_spoiled_is_none(tmp_path: Path) -> None:
    run = began(tmp_path / "root")
    (run / "started").write_text("x" * 2 * MARK_BYTES_MAX)
    (run / "progress").write_text("7 " + "\N{SNOWMAN}" * 300)  # as long as a text may be
    for marks in await both_marks(tmp_path / "root"):
        assert (marks[BAD].task, len(marks[BAD].progress)) == (None, 302)
        assert marks[GOOD].task == (17, 2)


@pytest.mark.parametrize("make", [os.symlink, lambda _, to: os.mkfifo(to)], ids=["link", "pipe"])
async def test_output_is_not_read_through_what_a_job_puts_in_its_place(
    make: object, tmp_path: Path
) -> None:
    """A link would show files of the gateway's host; a pipe would hold its thread."""
    (tmp_path / "token").write_text("swordfish")
    run = began(tmp_path / "root")
    make(tmp_path / "token", run.parent / "out")  # type: ignore[operator]  # one of the two
    make(tmp_path / "token", run / "products")  # type: ignore[operator]
    (run.parent / "err").write_text("its own")
    files = SharedFiles(tmp_path / "root")
    grown = await files.grown({BAD: Stored()}, LIMITS)
    for pieces in (await files.output(BAD, Stored(), LIMITS), grown[BAD]):
        assert [piece.data for piece in pieces] == [b"its own"]
    assert await files.left(BAD, "products", bytes_max=100) == b""


@pytest.mark.parametrize(
    ("status", "text"),
    [(200, "<html>a proxy</html>"), (401, "who?"), (429, "slowly"), (502, "<html>")],
)
async def test_nomad_that_makes_no_sense_is_away(status: int, text: str) -> None:
    """A job that is given to it then does not end."""
    async with receiving(answering(status, body=text.encode())) as server:
        client = NomadClient(NomadSettings(nomad_address=server.url))
        for words in (("GET", ["jobs"]), ("POST", ["job", "x", "dispatch"])):
            with pytest.raises(Unavailable):
                await client.call(*words)


async def test_whatever_an_engine_stumbles_over_is_no_answer(tmp_path: Path) -> None:
    engine = DirectoryEngine(tmp_path / "engine")
    careful = GuardedEngine(engine)
    async with engine.garbled():
        for call in (careful.statuses([]), careful.stop([], grace_ms=0), careful.forget([])):
            with pytest.raises(Unavailable) as raised:
                await call
            assert "KeyError: 'items'" in str(raised.value.detail)
    assert await careful.statuses([]) == {}


ONE, OTHER = AttemptKey(1, 1, 1), AttemptKey(1, 2, 1)


def test_a_changed_reason_is_told_and_not_too_often() -> None:
    """Each attempt by itself; a new phase at once."""
    now = [100.0]
    notes = Notes(lambda: now[0])

    def after(seconds: float, said: str, key: AttemptKey = ONE) -> str:
        now[0] += seconds
        return notes.news(key, said)

    assert after(0, "Resources") == "Resources"
    assert after(60, "Resources") == ""
    assert after(0, "Priority") == "Priority"
    assert after(9, "Resources") == ""
    assert after(0, "Resources", OTHER) == "Resources"
    assert after(1, "Resources") == "Resources"
    assert notes.of_phase(ONE, "on n1") == "on n1"
    assert notes.of_phase(ONE, "x" * 1000) == "x" * 300


def marks(*, ended_s_ago: float = 1.0, **more: float) -> Marks:
    ages = {"started": 9.0, "ended": ended_s_ago, **more}
    texts = {"started": "7 2 n1\n", "ended": "0\n", "used": "0m0.010s 0m0.000s\n1m2.50s 0m0.25s\n"}
    return marks_of(ages, texts)


@cases(
    ("state", "own", "expected"),
    [
        ("COMPLETING", marks(termed=2.0), True),
        ("RUNNING", marks(termed=2.0, ended_s_ago=0.1), True),
        ("COMPLETING", marks(), False),
        ("COMPLETING", marks(termed=2.0, stopped=3.0), False),
        ("COMPLETING", marks(termed=99.0, ended_s_ago=90.0), False),
        ("CANCELLED", marks(termed=2.0), False),
        ("COMPLETED", marks(termed=2.0), False),
    ],
)
def test_an_end_that_slurm_has_asked_for_waits_for_its_state(
    state: str, own: Marks, *, expected: bool
) -> None:
    """But not for ever, and no other end does."""
    assert is_undecided(own, Task(7, 2, state)) == expected
    assert not is_undecided(own, None)


def test_good_end_of_a_cancelled_job_is_none() -> None:
    """One that Slurm has warned and that ends well is."""
    cancelled, well = (
        ended(marks(termed=2.0), 1.0, Task(7, 2, state)) for state in ("CANCELLED", "COMPLETED")
    )
    assert (cancelled.exit_code, cancelled.signal) == (None, SIGTERM)
    assert (well.exit_code, well.signal, well.cpu_ms) == (0, None, 62_750)


@cases("text", ["", "x", "0m0s 0m0s\n1m1.2.3s ²m1s\n", "\n" + "9" * 100 + "m1s"])
def test_odd_times_are_no_times(text: str) -> None:
    assert marks_of({}, {"used": text}).cpu_ms <= 10**15


FULL = """sbatch: error: {}
sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, \
user's size and/or time limits)
"""
DENIED = "slurm_update error: Access/permission denied\n"
ARRAY = "sbatch: error: Batch job submission failed: Invalid job array specification\n"
PARTITION = """sbatch: error: invalid partition specified: nowhere
sbatch: error: Batch job submission failed: Invalid partition name specified
"""


class _Slurm:
    """Answers sbatch: with words that refuse an array of this size, or with a number."""

    def __init__(self, refuses: Callable[[int], str]) -> None:
        self.refuses = refuses
        self.asked: list[int] = []
        self.taken: list[int] = []

    async def run(self, words: Sequence[str], said: str = "") -> Answer:
        del said
        if words[0] == "squeue":
            return Answer(0, "", "")
        if words[0] == "scontrol":
            return Answer(1, "", DENIED)
        (count,) = (int(found[1]) + 1 for w in words if (found := re.match("--array=0-(.+)", w)))
        self.asked.append(count)
        if words := self.refuses(count):
            return Answer(1, "", words)
        self.taken.append(count)
        return Answer(0, f"{len(self.taken)}\n", "")

    def close(self) -> None:
        """Nothing is open."""


def engine_of(root: Path, slurm: _Slurm) -> SlurmEngine:
    settings = SlurmSettings()
    files = SharedFiles(root)
    return SlurmEngine(SlurmCommands(slurm, settings), files, settings, LIMITS, tag="x")


def some(count: int) -> dict[str, Assignment]:
    return {one.key.name: one for one in map(assignment, range(1, count + 1))}


@pytest.mark.parametrize(
    "limit", ["QOSMaxSubmitJobPerUserLimit", "AssocMaxSubmitJobLimit", "AssocGrpSubmitJobsLimit"]
)
async def test_slurm_that_takes_no_more_ends_no_job(limit: str, tmp_path: Path) -> None:
    """They go when there is room, as many as it takes, and nothing is left of what did not go."""
    room = [40]

    def refuses(count: int) -> str:
        if count > room[0]:
            return FULL.format(limit)
        room[0] -= count
        return ""

    slurm = _Slurm(refuses)
    engine = engine_of(tmp_path, slurm)
    for taken in (0, 0, 25, 25, 37):
        with pytest.raises(Unavailable) as raised:
            await engine.submit(some(100))
        assert limit in str(raised.value.detail)
        assert sum(slurm.taken) == taken
        assert given_in(tmp_path) == sorted([*some(taken)])
        assert len([*tmp_path.glob("weft-*")]) == taken
        room[0] = max(room[0], 8)
    room[0] = 100
    assert await engine.submit(some(100)) == {}
    assert sum(slurm.taken) == 100


async def test_arrays_are_as_large_as_slurm_takes_them(tmp_path: Path) -> None:
    """It is found out once."""
    slurm = _Slurm(lambda count: ARRAY if count > 30 else "")
    engine = engine_of(tmp_path, slurm)
    assert await engine.submit(some(100)) == {}
    assert (slurm.asked, slurm.taken) == ([100, 50, 25, 25, 25, 25], [25] * 4)


async def test_what_slurm_never_takes_is_refused_by_a_single_one(tmp_path: Path) -> None:
    """And two calls are enough for that."""
    slurm = _Slurm(lambda _count: PARTITION)
    refused = await engine_of(tmp_path, slurm).submit(some(100))
    assert len(refused) == 100
    assert slurm.asked == [100, 1]
    assert [*tmp_path.glob("weft-*")] == []


async def test_refusal_of_many_does_not_end_them(tmp_path: Path) -> None:
    """Something else may be wrong with an array of this size."""
    slurm = _Slurm(lambda count: "sbatch: error: too many\n" if count > 10 else "")
    assert await engine_of(tmp_path, slurm).submit(some(20)) == {}
    assert sum(slurm.taken) == 20


async def test_site_that_moves_no_limits_is_quoted(tmp_path: Path) -> None:
    """And the clock of the node stays, too."""
    engine = engine_of(tmp_path, _Slurm(lambda _count: ""))
    spec = JobSpec(script="true", timeout_s=60)
    one = Assignment(AttemptKey(1, 1, 1), spec, 100, 16, (1, 1))
    assert await engine.submit({one.key.name: one}) == {}
    assert await engine.tell(one, Command(1, one.key, extra_ms=30_000)) == ""
    longer = tmp_path / one.key.name / "longer"
    assert longer.read_text() == "30"
    refusal = await engine.tell(one, Command(2, one.key, extra_ms=90_000))
    assert "Access/permission denied" in refusal
    assert longer.read_text() == "30"


JOB = {"ID": "weft-x-1/dispatch-1-2", "Status": "running", "Stop": False}


def ago(seconds: float) -> str:
    """Return a time as Nomad writes it."""
    return (datetime.now(UTC) - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%f123Z")


def allocation(
    state: str, *, details: dict[str, str] | None = None, created: int = 1, **task: object
) -> dict[str, Any]:
    """Return an allocation of one task."""
    events = [{"Type": "Terminated", "Details": details}] if details is not None else []
    states = {"StartedAt": ago(10), "FinishedAt": ago(4), "Events": events, **task}
    return {
        "ID": "0123456789ab",
        "CreateTime": created,
        "ClientStatus": state,
        "NodeName": "n1",
        "TaskStates": {"job": states},
    }


@cases(
    ("state", "details", "expected"),
    [
        ("complete", {"exit_code": "0", "signal": "0"}, (0, None, None)),
        ("failed", {"exit_code": "200", "signal": "0"}, (200, None, None)),
        ("failed", {"exit_code": "0", "signal": "9"}, (None, 9, None)),
        ("failed", {"exit_code": "137", "oom_killed": "true"}, (137, None, Reason.OOM)),
        ("failed", {"exit_code": "124"}, (124, None, Reason.TIMEOUT)),
        ("lost", None, (None, None, Reason.LOST)),
        ("failed", None, (None, None, Reason.SYSTEM)),
    ],
)
def test_ends_are_told(
    state: str, details: dict[str, str] | None, expected: tuple[object, ...]
) -> None:
    limit_s = 6.0 if (details or {}).get("exit_code") == "124" else None
    found = status_of(JOB, [allocation(state, details=details)], limit_s)

    assert (found.exit_code, found.signal, found.reason) == expected
    assert found.ended_s_ago == pytest.approx(4, abs=1)
    assert "n1" in found.message


def test_waiting_and_running_are_told_apart() -> None:
    waits = status_of({**JOB, "Status": "pending"}, [], None)
    begins = status_of(JOB, [allocation("pending", StartedAt=None)], None)
    runs = status_of(JOB, [allocation("running", FinishedAt="0001-01-01T00:00:00Z")], None)
    never = status_of({**JOB, "Status": "dead"}, [], None)

    assert [one.phase for one in (waits, begins, runs)] == [
        Phase.QUEUED_REMOTE,
        Phase.QUEUED_REMOTE,
        Phase.EXECUTING,
    ]
    assert runs.started_s_ago == pytest.approx(10, abs=1)
    assert (never.started_s_ago, never.ended_s_ago) == (None, 0.0)


def test_what_nomad_starts_instead_of_a_lost_one_does_not_count() -> None:
    lost = allocation("lost")
    instead = allocation("running", created=2, FinishedAt=None)

    assert status_of(JOB, [instead, lost], None).reason == Reason.LOST


@pytest.mark.parametrize(
    "spec",
    [
        JobSpec(("true",), executor="elsewhere"),
        JobSpec(function=FunctionSpec(call="a:b")),
        JobSpec(script="#" + "x" * 20_000),
    ],
)
def test_what_nomad_cannot_run_is_refused(spec: JobSpec) -> None:
    with pytest.raises(Invalid):
        payload_of(Assignment(AttemptKey(1, 1, 1), spec, 100, 16, (1, 1)), LIMITS)


async def test_address_is_checked_and_silence_is_not_the_jobs_fault() -> None:
    with pytest.raises(WrongNomadAddress):
        NomadClient(NomadSettings(nomad_address="nomad.example"))
    client = NomadClient(NomadSettings(nomad_address="http://127.0.0.1:1", nomad_answer_s=2))
    with pytest.raises(Unavailable, match="Nomad is away"):
        await client.call("GET", ["jobs"])


def test_why_no_node_takes_a_job_is_said() -> None:
    """As of an evaluation that is blocked; it is told while the job has no allocation."""
    full = {"NodesEvaluated": 1, "DimensionExhausted": {"memory": 1}}
    other = {"NodesEvaluated": 2, "ConstraintFiltered": {"${attr.cpu.arch} = arm64": 2}}

    assert why_unplaced({"FailedTGAllocs": {"a": full}}) == "memory is exhausted on 1 nodes"
    assert (
        why_unplaced({"FailedTGAllocs": {"a": other}}) == "2 nodes lack ${attr.cpu.arch} = arm64"
    )
    assert why_unplaced({"FailedTGAllocs": {"a": {"NodesEvaluated": 0}}}) == "0 nodes were asked"
    assert why_unplaced({}) == ""
    assert "no node takes it: full" in status_of(JOB, [], None, "full").message
