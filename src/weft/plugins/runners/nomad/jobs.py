"""What Nomad is given: a parameterised job for each size, and a script for each attempt."""

import base64
import hashlib
import shlex
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from weft.core.attempt_key import AttemptKey
from weft.core.ends.conditions import BLOCK_FILE_VARIABLE
from weft.core.errors import Invalid
from weft.core.files.products import PRODUCTS_VARIABLE
from weft.plugins.executors.job_environment import (
    SHELL,
    identity_of,
    limits_elsewhere,
    program_of,
    small_environment,
    timeout_ms_of,
    variables_of,
)
from weft.plugins.runners.nomad.settings import NomadSettings
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.wire.spec import JobSpec

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
PRODUCTS: Final = "products"
ASK: Final = "ask"
"""Files in the task's directory in which a job says something; the gateway brings them back."""
_RUNS: Final = ("nomad", "process")
"""Executors of the specs that are understood: the second is a spec that names none."""
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


def size_of(one: Assignment) -> Size:
    """Return the size of an attempt."""
    return Size(max(one.cpu_m, 1), max(one.memory_mib, 1), one.gpu)


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


def payload_of(one: Assignment, limits: ExecutorLimits) -> str:
    """Return the script of an attempt, as Nomad takes it. Raise `Invalid`."""
    script = script_of(one.key, one.spec, limits).encode()
    if len(script) > _PAYLOAD_MAX:
        raise Invalid(
            f"the job is too long for Nomad: {len(script)} bytes with its environment",
            hint=f"Nomad takes {_PAYLOAD_MAX} bytes; put the script into a file that nodes see.",
        )
    return base64.b64encode(script).decode()


def script_of(key: AttemptKey, spec: JobSpec, limits: ExecutorLimits) -> str:
    """Return the script of an attempt. Raise `Invalid` if Nomad cannot run such a job."""
    if spec.executor not in _RUNS:
        raise Invalid(
            f"Nomad cannot run a job of the executor {spec.executor!r}",
            hint="Let it run on a worker of this executor.",
        )
    if spec.function is not None:
        raise Invalid("Nomad runs programs, not functions", hint="Give it a command or a script.")
    own = {
        **(small_environment() if spec.inherit_env is None else spec.inherit_env),
        **identity_of(key, spec), **(spec.env or {}),
        **variables_of(key, spec, limits_elsewhere(limits)),
    }  # fmt: skip
    lines = [f"export {name}={shlex.quote(text)}" for name, text in own.items()]
    if limits.block_files:
        lines.append(f'export {BLOCK_FILE_VARIABLE}="$NOMAD_TASK_DIR/{ASK}"')
    if limits.product_files:
        lines.append(f'export {PRODUCTS_VARIABLE}="$NOMAD_TASK_DIR/{PRODUCTS}"')
    if spec.umask is not None:
        lines.append(f"umask {int(spec.umask, 8):o}")
    if spec.stdin is not None:
        lines.append(f'printf %s {shlex.quote(spec.stdin)} >"$NOMAD_TASK_DIR/stdin"')
        lines.append('exec <"$NOMAD_TASK_DIR/stdin"')
    else:
        lines.append("exec </dev/null")
    where = '"$NOMAD_TASK_DIR/work"' if spec.cwd is None else shlex.quote(spec.cwd)
    make = 'mkdir -p "$NOMAD_TASK_DIR/work" && ' if spec.cwd is None else ""
    lines.append(f"{make}cd {where} || exit 126")
    argv, script = program_of(spec)
    if script is not None:
        lines.append(f'printf %s {shlex.quote(script)} >"$NOMAD_TASK_DIR/program"')
        lines.append('chmod 700 "$NOMAD_TASK_DIR/program"')
    words = shlex.join(argv)
    program = f'"$NOMAD_TASK_DIR/program" {words}' if script is not None else words
    if not program:
        return "exit 0\n"
    limit_ms = timeout_ms_of(spec)
    clock = ""
    if limit_ms is not None:
        clock = f"timeout -k {limits.grace_ms / 1000:g} {limit_ms / 1000:g} "
    return "\n".join([*lines, f"exec {clock}{program}", ""])
