"""What Ray is given: a job for each attempt, with its script as the entrypoint."""

import secrets
import shlex
from collections.abc import Sequence
from typing import Any, Final

from weft.core.errors import Invalid
from weft.extensions.engines.ray.settings import RaySettings
from weft.plugins.runners.remote.scripts import FOLDER, Dialect, script_of
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment

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
    number: str, assignment: Assignment, limits: ExecutorLimits, *, resources: dict[str, float],
    avoided: Sequence[str] = (),
) -> dict[str, Any]:  # fmt: skip
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
