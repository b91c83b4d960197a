"""What Nomad is given: a parameterised job for each size, and a script for each attempt."""

import base64
import hashlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from weft.core.errors import Invalid
from weft.extensions.engines.nomad.settings import NomadSettings
from weft.plugins.executors.job_environment import SHELL, small_environment
from weft.plugins.runners.remote.scripts import FOLDER, Dialect, script_of
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment

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
