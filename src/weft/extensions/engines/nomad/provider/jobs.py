"""The job of a machine: its one task runs a worker that reaches the api.

The token is a variable of Nomad's below the path of the job, which the task alone may read beside
those whom the site allows; a template writes it into the task's directory for secrets. Nomad
encrypts variables at rest; the job shows its name, not its value.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

from weft.extensions.engines.nomad.settings import NomadSettings
from weft.plugins.executors.job_environment import SHELL
from weft.plugins.providers.pool_options import PROGRAM, worker_variables
from weft.ports.provider import FoundMachine, WantedMachine
from weft.settings import variable_of

MACHINES: Final = "weft_machines"
"""In the meta of all machines of a deployment; its value is the deployment's tag."""
MACHINE: Final = "weft_machine"
KEY: Final = "token"
END_S: Final = 60
"""So long has a worker to end in order, if the node's own limit is not shorter."""
_TASK: Final = "worker"
_NS: Final = 1_000_000_000
_OWN_MIB: Final = 256
"""What a worker needs beside its jobs."""
_SLUG_MAX: Final = 40
# The task's own directory may have a long path, and sockets must not.
_BEGIN: Final = f"""umask 077
home=$(mktemp -d "/tmp/weft-XXXXXX") || exit 70
trap 'rm -rf "$home"' EXIT
export HOME="$home" {variable_of("home")}="$home"
"$0" worker --token-file "$NOMAD_SECRETS_DIR/{KEY}" &
worker=$!
trap 'kill -TERM $worker 2>/dev/null' TERM
wait $worker; code=$?
# A trap ends a wait before the worker has ended.
while kill -0 $worker 2>/dev/null; do wait $worker; code=$?; done
exit $code
"""


def prefix_of(tag: str) -> str:
    """Return how the ids of a deployment's machines begin."""
    return f"weft-machine-{_digest(tag)}-"


def id_of(tag: str, machine: str) -> str:
    """Return the id of a machine's job; machines may have longer names than jobs."""
    slug = re.sub(r"[^a-z0-9]+", "-", machine.lower()).strip("-")[:_SLUG_MAX].strip("-")
    return f"{prefix_of(tag)}{slug}-{_digest(f'{tag}/{machine}')}"


def token_path(job_id: str) -> str:
    """Return the path of the variable that the tasks of a job may read."""
    return f"nomad/jobs/{job_id}"


def job_of(
    machine: WantedMachine, connect: str, settings: NomadSettings, *, tag: str
) -> dict[str, Any]:
    """Return the job of a machine. Nomad tries nothing again: weft decides."""
    flavour, options, name = machine.flavour, machine.options, id_of(tag, machine.name)
    own = {} if flavour.gpus else {"worker_gpus": "none"}
    resources: dict[str, Any] = {
        "CPU": max(flavour.cpu_m * settings.nomad_core_mhz // 1000, 1),
        "MemoryMB": flavour.memory_mib + _OWN_MIB,
    }
    if flavour.gpus:
        resources["Devices"] = [{"Name": "gpu", "Count": flavour.gpus}]
    centers = [machine.region] if machine.region else settings.nomad_datacenters.split(",")
    task = {
        "Name": _TASK,
        "Driver": settings.nomad_driver,
        "Config": {"command": SHELL, "args": ["-c", _BEGIN, str(options.get("program", PROGRAM))]},
        "Env": worker_variables(machine, connect=connect, **own),
        "Templates": [
            {
                "EmbeddedTmpl": f'{{{{ with nomadVar "{token_path(name)}" }}}}'
                f"{{{{ .{KEY} }}}}{{{{ end }}}}\n",
                "DestPath": f"secrets/{KEY}",
                "Perms": "0600",
                "ChangeMode": "noop",
            }
        ],
        "Resources": resources,
        "KillTimeout": END_S * _NS,
        "KillSignal": "SIGTERM",
    }
    return {
        "ID": name,
        "Name": name,
        "Type": "batch",
        "Namespace": settings.nomad_namespace,
        "Datacenters": [center.strip() for center in centers],
        **({"NodePool": str(options["node_pool"])} if "node_pool" in options else {}),
        "Meta": {MACHINES: tag, MACHINE: machine.name},
        "TaskGroups": [
            {
                "Name": _TASK,
                "Count": 1,
                "RestartPolicy": {"Attempts": 0, "Mode": "fail"},
                "ReschedulePolicy": {"Attempts": 0, "Unlimited": False},
                "PreventRescheduleOnLost": True,
                "Tasks": [task],
            }
        ],
    }


def is_machine(job: Mapping[str, Any], tag: str) -> bool:
    """Say whether a job is a machine of a deployment."""
    meta = job.get("Meta") or {}
    return meta.get(MACHINES) == tag and MACHINE in meta


def machine_of(job: Mapping[str, Any], *, unplaced: str, last: str) -> FoundMachine:
    """Return what a job says of its machine. `unplaced`: why not; `last`: how its task ended."""
    error, waits = "", ""
    if job["Status"] == "dead":
        error = f"its worker has ended: {last or 'Nomad job ' + job['ID']}"
    elif job["Status"] == "pending":
        waits = f"Nomad job {job['ID']}: {unplaced or 'no node has it yet'}"
    number = str(job.get("CreateIndex") or "")
    return FoundMachine(
        name=str(job["Meta"][MACHINE]),
        provider_id=f"{job['ID']}:{number}",
        error=error,
        waits=waits,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
