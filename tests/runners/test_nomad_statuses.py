"""What Nomad's allocations say, from answers of Nomad 1.11 with other values."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cases import cases
from weft.core.errors import Invalid, Unavailable
from weft.core.states import AttemptKey, Phase, Reason
from weft.extensions.engines.nomad.runner.client import NomadClient, WrongNomadAddress
from weft.extensions.engines.nomad.runner.jobs import payload_of, status_of, why_unplaced
from weft.extensions.engines.nomad.settings import NomadSettings
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.wire.spec import FunctionSpec, JobSpec

LIMITS = ExecutorLimits(grace_ms=1000, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)
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
        "ID": "0123456789ab", "CreateTime": created, "ClientStatus": state, "NodeName": "n1",
        "TaskStates": {"job": states},
    }  # fmt: skip


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
        Phase.QUEUED_REMOTE, Phase.QUEUED_REMOTE, Phase.EXECUTING,
    ]  # fmt: skip
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
