"""What Nomad is given: a parameterised job for each size, and a script for each attempt.
And what its allocations say of an attempt.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from msgspec import structs

from weft.core.errors import Invalid
from weft.core.states import Phase, Reason
from weft.plugins.executors.job_environment import SHELL, small_environment
from weft.plugins.runners.remote import Status
from weft.plugins.runners.remote.handles import FOLDER, Dialect, script_of
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft_nomad.settings import NomadSettings

ATTEMPT: Final = "weft_attempt"
STATE: Final = "weft_state"
"""`given`, or `withdrawn`: a job that does nothing and holds the token of an attempt."""
LIMIT: Final = "weft_limit_s"
"""The attempt's own time limit; a gateway that adopts it knows by it why it ended."""
AVOIDED: Final = "weft_avoided"
"""Names of the nodes on which a job must not run, with commas between."""
FOR_A_TIME: Final = "avoids-"
"""Begins the names of parameterised jobs that avoid nodes; they go when nobody needs them."""
TASK: Final = "job"
_DIALECT: Final = Dialect("Nomad", ("nomad", "process"))
_PREPARE: Final = f"{FOLDER}=$NOMAD_TASK_DIR\n"
_PAYLOAD_MAX: Final = 16 << 10
"""Nomad takes no more."""
_NODE: Final = "${node.unique.name}"
_START: Final = f'exec {SHELL} "$NOMAD_TASK_DIR/script"'
_NS: Final = 1_000_000


class Size(NamedTuple):
    """What the jobs of one parameterised job have in common."""

    cpu_m: int
    memory_mib: int
    gpu: int


def size_of(assignment: Assignment) -> Size:
    """Return the size of an attempt."""
    return Size(max(assignment.cpu_m, 1), max(assignment.memory_mib, 1), assignment.gpu)


def parent_of(prefix: str, document: dict[str, Any]) -> str:
    """Return the id of a parameterised job: another definition is another job."""
    kind = FOR_A_TIME if document["TaskGroups"][0]["Constraints"] else ""
    return prefix + kind + hashlib.sha256(repr(document).encode()).hexdigest()[:12]


def job_of(
    size: Size, settings: NomadSettings, limits: ExecutorLimits, avoided: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the definition of a parameterised job, without its id, that runs on none of these
    nodes. Nomad tries nothing again: weft decides.
    """
    resources: dict[str, Any] = {
        "CPU": max(size.cpu_m * settings.nomad_core_mhz // 1000, 1),
        "MemoryMB": max(size.memory_mib, 10),
    }
    if size.gpu:
        resources["Devices"] = [{"Name": "gpu", "Count": size.gpu}]
    return {
        "Type": "batch",
        "Namespace": settings.nomad_namespace,
        "Datacenters": [one.strip() for one in settings.nomad_datacenters.split(",")],
        "ParameterizedJob": {
            "Payload": "required",
            "MetaRequired": [ATTEMPT, STATE],
            "MetaOptional": [LIMIT, AVOIDED],
        },
        "TaskGroups": [
            {
                "Name": TASK,
                "Count": 1,
                "Constraints": [
                    {"LTarget": _NODE, "RTarget": node, "Operand": "!="} for node in avoided
                ],
                "RestartPolicy": {"Attempts": 0, "Mode": "fail"},
                "ReschedulePolicy": {"Attempts": 0, "Unlimited": False},
                "PreventRescheduleOnLost": True,
                "Tasks": [
                    {
                        "Name": TASK,
                        "Driver": settings.nomad_driver,
                        "Config": {"command": SHELL, "args": ["-c", _START]},
                        "DispatchPayload": {"File": "script"},
                        "Resources": resources,
                        "KillTimeout": max(limits.grace_ms, 1) * _NS,
                        "KillSignal": "SIGTERM",
                    }
                ],
            }
        ],
    }


def payload_of(assignment: Assignment, limits: ExecutorLimits) -> str:
    """Return the script of an attempt, as Nomad takes it. Raise `Invalid`."""
    script = f"{_PREPARE}{script_of(assignment, limits, _DIALECT, small_environment())}".encode()
    if len(script) > _PAYLOAD_MAX:
        raise Invalid(
            f"the job is too long for Nomad: {len(script)} bytes with its environment",
            hint=f"Nomad takes {_PAYLOAD_MAX} bytes; put the script into a file that nodes see.",
        )
    return base64.b64encode(script).decode()


_DONE: Final = frozenset({"complete", "failed", "lost"})
_BY_TIMEOUT: Final = frozenset({124, 137, 143})
"""Exit codes of the program `timeout`, and of what it had to kill."""
_KILLED: Final = frozenset({137, 143})
_SIGNALLED: Final = 128
_LATE_S: Final = 0.2


def why_unplaced(evaluation: Mapping[str, Any]) -> str:
    """Return why no node takes a job: what is exhausted, or what none of them has."""
    said: list[str] = []
    for one in (evaluation.get("FailedTGAllocs") or {}).values():
        full, lacking = one.get("DimensionExhausted") or {}, one.get("ConstraintFiltered") or {}
        said += [f"{what} is exhausted on {count} nodes" for what, count in full.items()]
        said += [f"{count} nodes lack {what}" for what, count in lacking.items()]
        if not said:
            said.append(f"{one.get('NodesEvaluated', 0)} nodes were asked")
    return "; ".join(said)


def peak_of(stats: Mapping[str, Any]) -> int:
    """Return how many bytes an allocation holds, or held at most, by what its node measures."""
    memory = (stats.get("ResourceUsage") or {}).get("MemoryStats") or {}
    return max(int(memory.get(one) or 0) for one in ("MaxUsage", "Usage", "RSS"))


def has_children(parent: Mapping[str, Any]) -> bool:
    """Say whether something of a parameterised job waits or runs."""
    count = (parent.get("JobSummary") or {}).get("Children") or {}
    return bool(int(count.get("Pending") or 0) + int(count.get("Running") or 0))


def is_only_barred(evaluation: Mapping[str, Any]) -> bool:
    """Say whether a job waits for nodes that it may not use, not for room on others."""
    told = [*(evaluation.get("FailedTGAllocs") or {}).values()]
    is_barred = any(one.get("ConstraintFiltered") for one in told)
    return is_barred and not any(one.get("DimensionExhausted") for one in told)


def status_of(
    job: Mapping[str, Any],
    allocations: Sequence[Mapping[str, Any]],
    limit_s: float | None,
    why: str = "",
) -> Status:
    """Return the status of an attempt. `limit_s`: its own time limit; `why`: `why_unplaced`."""
    status = _status_of(job, allocations, limit_s, why)
    if not allocations:
        return status
    return structs.replace(status, node=str(first_of(allocations).get("NodeName") or ""))


def moves(allocation: Mapping[str, Any]) -> bool:
    """Say whether Nomad takes an allocation from its node: for a drain, or for others."""
    is_drained = (allocation.get("DesiredTransition") or {}).get("Migrate")
    return bool(is_drained or allocation.get("PreemptedByAllocation"))


def has_successors(allocations: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether Nomad has begun, or begins, an attempt once more, which weft does not want."""
    first = first_of(allocations)
    later = (allocation for allocation in allocations if allocation is not first)
    return any(one["ClientStatus"] not in _DONE for one in later)


def first_of(allocations: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the one that ran: what Nomad may have started in its stead is stopped."""
    return min(allocations, key=lambda allocation: allocation["CreateTime"])


def _status_of(
    job: Mapping[str, Any],
    allocations: Sequence[Mapping[str, Any]],
    limit_s: float | None,
    why: str,
) -> Status:
    name = str(job["ID"])
    if not allocations:
        if job["Status"] != "dead":
            waits = f"no node takes it: {why}" if why else "no node has it yet"
            return Status(Phase.QUEUED_REMOTE, message=f"Nomad job {name}: {waits}")
        return Status(Phase.COLLECTING, None, 0.0, message=f"not begun in Nomad: {name}")
    first = first_of(allocations)
    task = (first.get("TaskStates") or {}).get(TASK) or {}
    state = str(first["ClientStatus"])
    is_moved = moves(first)
    where = f"Nomad allocation {first['ID'][:8]} on {first.get('NodeName') or 'a node'}: {state}"
    started = _age_s(task.get("StartedAt"))
    if state not in _DONE:
        phase = Phase.QUEUED_REMOTE if started is None else Phase.EXECUTING
        return Status(phase, started, message=where)
    ended = _age_s(task.get("FinishedAt")) or 0.0
    if state == "lost":
        return Status(Phase.COLLECTING, started, ended, message=where, reason=Reason.LOST)
    last = next(
        (event for event in reversed(task.get("Events") or ()) if event["Type"] == "Terminated"),
        None,
    )
    if last is None:
        said = [str(event.get("DisplayMessage") or "") for event in task.get("Events") or ()]
        why = next((text for text in reversed(said) if text), "")
        if job.get("Stop") and started is None:
            return Status(Phase.COLLECTING, None, ended, message=f"not begun in Nomad: {name}")
        message = f"{where} {why}".strip()
        reason = Reason.PREEMPTED if is_moved else Reason.SYSTEM
        return Status(Phase.COLLECTING, None, ended, message=message, reason=reason)
    status = _terminated(last.get("Details") or {}, where, started, ended, limit_s)
    if is_moved and (status.signal or status.exit_code in _KILLED):
        return structs.replace(status, exit_code=None, signal=None, reason=Reason.PREEMPTED)
    return status


def _terminated(
    details: Mapping[str, str],
    where: str,
    started: float | None,
    ended: float,
    limit_s: float | None,
) -> Status:
    code, signal = int(details.get("exit_code") or 0), int(details.get("signal") or 0)
    reason = None
    if details.get("oom_killed") == "true":
        reason = Reason.OOM
    ran_s = None if started is None else started - ended
    if limit_s is not None and ran_s is not None and code in _BY_TIMEOUT:
        reason = Reason.TIMEOUT if ran_s >= limit_s - _LATE_S else reason
    return Status(
        Phase.COLLECTING,
        started,
        ended,
        exit_code=None if signal else code,
        signal=signal or None,
        message=where,
        reason=reason,
    )


def _age_s(text: str | None) -> float | None:
    """Return how long ago a time was that Nomad tells; None: never."""
    if not text or text.startswith("0001"):
        return None
    at = datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
    part = text[19:].rstrip("Z").partition("+")[0]
    fraction = float(f"0{part}") if part.startswith(".") else 0.0
    return max(0.0, (datetime.now(UTC) - at).total_seconds() - fraction)
