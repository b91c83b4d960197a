"""`docs/guides/why.md` shows what the program prints, and names every kind of cause."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cases import cases
from weft.cli.commands.why import print_causes
from weft.core import why
from weft.core.why import (
    Cause,
    EndFacts,
    GateFacts,
    GroupFacts,
    JobFacts,
    ParentFacts,
    PoolFacts,
    causes_of_end,
    causes_of_group,
    causes_of_wait,
)
from weft.core.why.facts import (
    BlockedFacts,
    ComingMachine,
    GrowthFacts,
    JobName,
    LimitFacts,
    StoppedWorker,
)
from weft.submission.translation.gates import SENTENCES

GUIDE = Path(__file__).resolve().parents[2] / "docs/guides/why.md"
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
GIB = 2**30
POOL = PoolFacts(
    "default", workers=2, serving=2, large=2, active=2, cpu=4, memory=8 * GIB, cpu_active=16
)
NOBODY: dict[str, Any] = {"workers": 0, "serving": 0, "large": 0, "active": 0}
TOO_LARGE: dict[str, Any] = {"large": 0, "active": 0}


def waits(pool: dict[str, Any] | None = None, **facts: Any) -> Callable[[int, int], list[Cause]]:  # noqa: ANN401 (fields of JobFacts)
    """Return what is said of a job that waits."""
    of_pool = msgspec.structs.replace(POOL, **(pool or {}))

    def causes(batch_id: int, job_id: int) -> list[Cause]:
        names: dict[str, Any] = {"batch_id": batch_id, "job_id": job_id, "state": "ready"}
        job = JobFacts(**{**names, "memory": GIB, "pool": of_pool, **facts})
        return causes_of_wait(job, SENTENCES, NOW)

    return causes


def gate(kind: str, key: str, n: int, *holders: JobName, **more: Any) -> GateFacts:  # noqa: ANN401 (fields of GateFacts)
    return GateFacts(kind, key, n, n, holders=holders, **more)


def grows(machines: int = 1, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (fields of GrowthFacts)
    growth = GrowthFacts(machines, 4, **{"has_room": machines < 4, **more})
    return {
        "pool": "burst",
        "cpu_active": 4,
        "growth": growth,
        **({} if machines == 4 else NOBODY),
    }


def coming(usual_s: float | None) -> dict[str, Any]:
    return grows(coming=ComingMachine("burst-7", NOW - timedelta(seconds=10), usual_s))


def ended(state: str, **facts: Any) -> Callable[[int, int], list[Cause]]:  # noqa: ANN401 (fields of EndFacts)
    """Return what is said of a job that runs or has ended."""
    at = {"started_at": NOW - timedelta(minutes=1), "ended_at": NOW - timedelta(seconds=58)}
    known: dict[str, Any] = {"state": state, "attempt": 1, "worker": "node1", **at, **facts}
    return lambda batch_id, job_id: causes_of_end(
        EndFacts(batch_id=batch_id, job_id=job_id, **known), NOW
    )


def of_batch(batch_id: int, _: int) -> list[Cause]:
    ready = JobFacts(
        batch_id=batch_id,
        job_id=1,
        state="ready",
        cpu=8,
        memory=GIB,
        pool=msgspec.structs.replace(POOL, **TOO_LARGE),
    )
    failed = EndFacts(batch_id=batch_id, job_id=4, state="failed", reason="exit", exit_code=3)
    group = GroupFacts(
        batch_id=batch_id,
        name=f"b{batch_id}",
        state="running",
        complete=False,
        n_jobs=9,
        n_pending=3,
        n_ready=3,
        n_running=2,
        n_failed=1,
        ready=(ready,),
        failed=failed,
    )
    return causes_of_group(group, SENTENCES, NOW)


def name(batch_id: int, job_id: int = 1, **more: Any) -> JobName:  # noqa: ANN401 (fields of JobName)
    return JobName(batch_id, job_id, **more)


def at(**later: float) -> datetime:
    return NOW + timedelta(**later)


STOPPED = (StoppedWorker("node1", "cordoned"), StoppedWorker("node2", "draining"))
SLOW = gate("queue", "slow", 4, name(15))
SHOWN: dict[str, Callable[[int, int], list[Cause]]] = {
    "b12.j7": waits(
        {"active": 0, "stopped": (StoppedWorker("node1", "cordoned", "new disk"),)}, held=("/",)
    ),
    "b12.j4": waits(state="pending", parents=(ParentFacts(3, "running"),), n_parents=3),
    "b12.j5": waits(held=("/stage1",)),
    "b12.j8": waits(limit=LimitFacts("project", "genomics", "cost", 500)),
    "b12.j9": waits(limit=LimitFacts("project", "genomics", "cost", 500, near=True)),
    "b12.j6": waits(gates=(GateFacts("not_before", "", opens_at=at(hours=14)),)),
    "b13.j3": waits(gates=(gate("max_running", "13", 2, name(13)),)),
    "b14.j2": waits(gates=(gate("concurrency_key", "database", 1, name(14)),)),
    "b15.j5": waits(queue="licensed", gates=(gate("queue", "licensed", 4, name(15)),)),
    "b16.j3": waits(queue="licensed", gates=(gate("queue_user", "licensed/1", 2, name(16)),)),
    "b16.j4": waits(gates=(GateFacts("cores_user", "7", 16_000, 12_000, cost=8000),)),
    "b16.j5": waits(gates=(gate("cores", "", 64_000, cost=1000),)),
    "b16.j6": waits(user="ada", gates=(gate("cores_user", "7", 16_000, cost=32_000),)),
    "b17.j2": waits(gates=(gate("licence", "matlab", 3, name(17, user="ada", cost=2)),)),
    "b17.j3": waits(gates=(gate("licence", "matlab", 3, cost=5),)),
    "b18.j1": waits(gates=(GateFacts("preempted", "b19.j1/1", opens_at=at(seconds=52)),)),
    "b19.j1": waits(preempts=(name(18),)),
    "b20.j1": waits(queue="slow", belongs="fast", gates=(SLOW,)),
    "b21.j1": waits(NOBODY),
    "b21.j2": waits(TOO_LARGE, cpu=8),
    "b21.j3": waits({**TOO_LARGE, "serving": 0}, asks={"rack": "12"}),
    "b21.j4": waits({**TOO_LARGE, "serving": 0, "pool": "large"}, queue="slow"),
    "b21.j5": waits({"active": 0, "stopped": STOPPED}),
    "b22.j1": waits(cpu=2),
    "b22.j2": waits({"ahead": True, "running": 12}),
    "b22.j3": ended("running", started_at=None, kept="node7"),
    "b22.j4": ended(
        "running", started_at=None, worker="node7", claimed_at=NOW - timedelta(seconds=9)
    ),
    "b22.j6": ended(
        "running",
        started_at=None,
        worker="hpc",
        phase="queued_remote",
        message="Slurm job 77_5: PENDING, Priority (jobs of others come first)",
    ),
    "b22.j5": waits({"behind": "node7"}),
    "b23.j1": waits(coming(50)),
    "b23.j2": waits(coming(None)),
    "b23.j3": waits(coming(8)),
    "b23.j4": waits(grows()),
    "b23.j5": waits(grows(problem="no quota")),
    "b23.j6": waits(grows(4)),
    "b23.j7": waits(
        {"pool": "burst"},
        state="creating",
        machine=ComingMachine("burst-9", NOW - timedelta(seconds=10), 50),
    ),
    "b23.j8": waits({"pool": "burst", **NOBODY}, asks={"machine": "small"}),
    "b24.j1": ended("running", timeout_s=90),
    "b24.j2": ended("failed", reason="exit", exit_code=3, stderr="no such file"),
    "b24.j3": ended(
        "cancelled", message="parent j2: failed", started_at=None, ended_at=None, worker=None
    ),
    "b24.j4": ended("running", attempt=3, service={}, again="the check ended with exit code 1"),
    "b24.j5": waits(
        state="blocked", blocked=BlockedFacts(2, at(seconds=40), "blocked", 3, service=True)
    ),
    "b25": of_batch,
}
"""What is the case in each example."""


def examples() -> dict[str, str]:
    """Return what the guide shows below each command."""
    blocks = re.findall(r"^```console\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    parts = re.split(r"^\$ weft why ", "".join(blocks), flags=re.MULTILINE)[1:]
    return {target: printed for target, _, printed in (one.partition("\n") for one in parts)}


@cases("target", SHOWN)
def test_examples_are_what_is_printed(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    batch_id, _, job_id = target[1:].partition(".j")
    causes = SHOWN[target](int(batch_id), int(job_id or 0))
    print_causes({"batch_id": int(batch_id), "causes": msgspec.to_builtins(causes)}, target)

    assert capsys.readouterr().out == examples()[target]


def test_every_example_is_checked() -> None:
    assert examples().keys() == SHOWN.keys()


def test_every_kind_is_named() -> None:
    """Those of the code, and those of gates."""
    sources: Sequence[Path] = sorted(Path(why.__file__).parent.glob("*.py"))
    text = "".join(path.read_text() for path in sources)
    kinds = {*SENTENCES, *re.findall(r'Cause\(\s*"([a-z_]+)"', text), "failed", "error"}

    assert [kind for kind in sorted(kinds) if f"`{kind}`" not in GUIDE.read_text()] == []
