"""What Ray is given: a job for each attempt, with its script as the entrypoint. And
what Ray says of it.
"""

import secrets
import shlex
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

from msgspec import structs

from weft.core.errors import Invalid
from weft.core.states import Phase, Reason
from weft.plugins.runners.remote import Status
from weft.plugins.runners.remote.black_nodes import told_avoided
from weft.plugins.runners.remote.handles import FOLDER, Dialect, script_of
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft_ray.runner.client import RayJob
from weft_ray.settings import RaySettings

ATTEMPT: Final = "weft_attempt"
STATE: Final = "weft_state"
GIVEN: Final = "given"
WITHDRAWN: Final = "withdrawn"
"""The state of a job that does nothing and holds the name of an attempt."""
LIMIT: Final = "weft_limit_s"
RUN: Final = "weft_run"
"""What the folder of this job's files has in its name: a name may be given again later."""
AVOIDED: Final = "weft_avoided"
"""Ids of the nodes on which a job must not run, with commas between."""
BEGAN: Final = "began"
"""The file that says when the program was begun; without it, it never was."""
OUT: Final = "out"
ERR: Final = "err"
_ENTRY_MAX: Final = 100_000
"""The kernel takes no longer argument, and the entrypoint is one."""
_NODE: Final = "ray.io/node-id"
_DIALECT: Final = Dialect("Ray", ("ray", "process"))
# A stop that came while the job waited comes when its process begins: so that waits for it.
_BEGIN: Final = f"""{FOLDER}=$(readlink /proc/$$/fd/1) || exit 126
{FOLDER}=${{{FOLDER}%/*}}/$weft_name
(umask 077 && mkdir "${FOLDER}") && sleep 0.1 || exit 126
date +%s.%N >"${FOLDER}/new" && mv "${FOLDER}/new" "${FOLDER}/{BEGAN}" || exit 126
exec >"${FOLDER}/{OUT}" 2>"${FOLDER}/{ERR}" || exit 126
"""


class WrongRayResources(Invalid, code="WORKER.WRONG_RAY_RESOURCES"):
    """The setting `ray_resources` is not understood."""


def resources_of(settings: RaySettings) -> dict[str, float]:
    """Return Ray's own resources that each job takes. Raise `WrongRayResources`."""
    found = {}
    for one in filter(None, (word.strip() for word in settings.ray_resources.split(","))):
        name, _, amount = one.partition("=")
        try:
            found[name.strip()] = float(amount or 1)
        except ValueError as error:
            raise WrongRayResources(
                f"not an amount of a resource: {one!r}",
                hint="Set `ray_resources` to something like ssd=1,licence=0.5.",
            ) from error
    return found


def folder_of(number: str, run: str) -> str:
    """Return the folder of a job's files, below the logs of its node."""
    return f"{number}.{run}"


def job_of(
    number: str,
    assignment: Assignment,
    limits: ExecutorLimits,
    *,
    resources: dict[str, float],
    avoided: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the job of an attempt, which runs on none of these nodes. Raise `Invalid`."""
    run = secrets.token_hex(4)
    script = script_of(assignment, limits, _DIALECT, {})
    entry = f"weft_name={shlex.quote(folder_of(number, run))}\n{_BEGIN}{script}"
    if len(entry.encode()) > _ENTRY_MAX:
        raise Invalid(
            f"the job is too long for Ray: {len(entry.encode())} bytes with its environment",
            hint=f"Ray takes {_ENTRY_MAX} bytes; put the script into a file that nodes see.",
        )
    told = {ATTEMPT: assignment.key.name, STATE: GIVEN, RUN: run, AVOIDED: ",".join(avoided)}
    if assignment.spec.timeout_s is not None:
        told[LIMIT] = str(assignment.spec.timeout_s)
    job: dict[str, Any] = {
        "submission_id": number,
        "entrypoint": entry,
        "metadata": told,
        "entrypoint_num_cpus": max(assignment.cpu_m, 1) / 1000,
        "entrypoint_memory": max(assignment.memory_mib, 1) << 20,
        "entrypoint_num_gpus": assignment.gpu,
        "entrypoint_resources": resources,
    }
    if avoided:
        job["entrypoint_label_selector"] = {_NODE: f"!in({','.join(avoided)})"}
    return job


def withdrawn_of(number: str, name: str) -> dict[str, Any]:
    """Return a job that does nothing, and takes the name of an attempt."""
    told = {ATTEMPT: name, STATE: WITHDRAWN}
    return {"submission_id": number, "entrypoint": "exit 0", "metadata": told}


_BY_TIMEOUT: Final = frozenset({124, 137, 143, -9, -15})
"""How the program `timeout` ends, and what it had to kill."""
_BROKEN: Final = frozenset(
    {
        "JOB_SUPERVISOR_ACTOR_DIED",
        "JOB_SUPERVISOR_ACTOR_UNKNOWN_FAILURE",
        "JOB_SUPERVISOR_ACTOR_START_FAILURE",
    }
)
"""What Ray says when it has lost sight of a job that may have begun."""
_NO_ROOM: Final = "JOB_SUPERVISOR_ACTOR_START_TIMEOUT"
_OOM: Final = ("out of memory", "OOM", "memory pressure")
_SAID: Final = frozenset({"PENDING", "RUNNING", "FAILED"})
"""Of which Ray's own words are told."""
_SAID_MAX: Final = 200
_ID_CHARS: Final = 12
_STOPPED_BY: Final = 15
_LEAST_S: Final = 0.001


class Node(IntEnum):
    """What is known of the node of a job."""

    ANSWERS = 1
    SILENT = 2
    GONE = 3


class Seen(NamedTuple):
    """A job, and what the file says that its script writes when it begins the program."""

    job: RayJob
    node: Node
    began: float | None


def avoided_by(job: RayJob) -> frozenset[str]:
    """Return the nodes on which a job must not run, as attempts failed there at once."""
    text = (job.metadata or {}).get(AVOIDED, "")
    return frozenset(text.split(",") if text else ())


def status_of(seen: Seen, now: float, *, node_s: float) -> Status:
    """Return the status of an attempt. `node_s`: for which time a node that Ray has lost may still
    run what it has.
    """
    job, node, began = seen
    where = _where(job)
    started = None if began is None else max(0.0, now - began)
    if not job.is_over:
        phase = Phase.QUEUED_REMOTE if began is None else Phase.EXECUTING
        return Status(phase, started, message=where, node=job.driver_node_id or "")
    ended_at = now if job.end_time is None else job.end_time / 1000
    is_unsure = job.error_type in _BROKEN or node is Node.SILENT
    if is_unsure and job.driver_node_id and now - ended_at < node_s:
        phase = Phase.QUEUED_REMOTE if began is None else Phase.EXECUTING
        said = f"{where}; its node may still run it, or be back, for {node_s:g} s"
        return Status(phase, started, message=said, node=job.driver_node_id)
    ended = max(0.0, now - ended_at)
    if started is not None:
        ended = min(ended, max(0.0, started - _LEAST_S))
    status = Status(Phase.COLLECTING, started, ended, message=where, node=job.driver_node_id or "")
    return _ended(seen, status)


def _ended(seen: Seen, status: Status) -> Status:
    job, node, began = seen
    is_gone = node is not Node.ANSWERS and job.driver_node_id is not None
    if is_gone and began is None and job.start_time is not None:
        # Nobody can say whether it had begun: it is not said that it never did.
        ago = max((status.ended_s_ago or 0.0) + _LEAST_S, 0.0)
        status = structs.replace(status, started_s_ago=ago)
    status = structs.replace(status, is_gone=is_gone)
    code = job.driver_exit_code
    if job.status == "SUCCEEDED":
        return structs.replace(status, exit_code=0)
    if code is not None:
        status = structs.replace(
            status, exit_code=code if code >= 0 else None, signal=-code if code < 0 else None
        )
        return _within_limit(job, status, code)
    if job.status == "STOPPED":
        is_begun = status.started_s_ago is not None
        return structs.replace(status, signal=_STOPPED_BY if is_begun else None)
    if job.error_type == _NO_ROOM:
        return structs.replace(status, reason=Reason.PREEMPTED)
    if job.error_type in _BROKEN:
        is_oom = any(word in (job.message or "") for word in _OOM)
        return structs.replace(status, reason=Reason.OOM if is_oom else Reason.LOST)
    return structs.replace(status, reason=Reason.SYSTEM)


def _within_limit(job: RayJob, status: Status, code: int) -> Status:
    """Return the status; what its own time limit has ended has that reason."""
    limit = (job.metadata or {}).get(LIMIT)
    if limit is None or code not in _BY_TIMEOUT or status.started_s_ago is None:
        return status
    ran_s = status.started_s_ago - (status.ended_s_ago or 0.0)
    if ran_s < float(limit):
        return status
    return structs.replace(status, signal=None, reason=Reason.TIMEOUT)


def _where(job: RayJob) -> str:
    """Return what a job is called, where it is, and what Ray says of it."""
    said = [f"Ray job {job.submission_id}"]
    if job.driver_node_id:
        said[0] += f" on node {job.driver_node_id[:_ID_CHARS]}"
    if job.status == "PENDING":
        said[0] += told_avoided([one[:_ID_CHARS] for one in avoided_by(job)])
    if job.status in _SAID and job.driver_exit_code is None:
        told = " ".join((job.message or "").split())
        said.append(told)
    return ": ".join(filter(None, said))[:_SAID_MAX]
