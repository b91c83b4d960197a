"""What Slurm's states mean beside the marks of an attempt; what sbatch refuses, by recorded words
of Slurm, ends what it is said of, and nothing else.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from signal import SIGTERM

import pytest

from cases import cases
from runners.slurm_cluster import given_in
from weft.core.errors import Unavailable
from weft.core.states import AttemptKey, Command
from weft.extensions.engines.slurm.runner.commands import SlurmCommands, Task
from weft.extensions.engines.slurm.runner.engine import SlurmEngine
from weft.extensions.engines.slurm.runner.folder import Marks, SharedFiles, marks_of
from weft.extensions.engines.slurm.runner.statuses import ended, is_undecided
from weft.extensions.engines.slurm.settings import SlurmSettings
from weft.plugins.runners.remote.ssh import Answer
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.testing.runner_suite import assignment
from weft.wire.spec import JobSpec


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


LIMITS = ExecutorLimits(grace_ms=1000, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)
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
