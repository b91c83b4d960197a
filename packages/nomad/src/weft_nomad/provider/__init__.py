"""The provider `nomad`: jobs of a Nomad cluster in which a worker runs that reaches the api.

A machine is a batch job with the deployment's tag and the machine's name in its meta. Its id
follows from both, so that it is made once. Only what has them is ever listed or deleted. Nomad
keeps it waiting as long as no node has room.

The token is a variable of Nomad's below the path of the job, which the task alone may read beside
those whom the site allows; a template writes it into the task's directory for secrets. Nomad
encrypts variables at rest; the job shows its name, not its value.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from weft.core.errors import WeftError
from weft.core.pools.pool import Option
from weft.plugins.executors.job_environment import SHELL
from weft.plugins.providers.pool_options import (
    PROGRAM,
    address_for,
    raise_first,
    told_by,
    until_begun,
    worker_variables,
    wrong_usual,
)
from weft.ports.provider import FoundMachine, ProviderError, ProviderSite, WantedMachine
from weft.settings import variable_of
from weft_nomad.runner.client import NomadClient
from weft_nomad.runner.jobs import why_unplaced
from weft_nomad.settings import NomadSettings

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


TEXTS: Final = frozenset({"node_pool", "program"})


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without Nomad."""
    return wrong_usual("nomad", options, TEXTS, "on the nodes")


BEGUN_S: Final = 5.0
"""A call that makes a job looks for so long whether its worker ends at once, or has no node."""
LOOK_S: Final = 0.3


class NomadProvider:
    """The port `Provider` on jobs of Nomad."""

    wants_credentials: ClassVar = True
    has_queue: ClassVar = True
    wrong_options = staticmethod(wrong_options)

    def __init__(self, site: ProviderSite) -> None:
        self._settings = site.section(NomadSettings)
        self._tag = site.tag
        self._client: NomadClient | None = None

    async def list(self) -> Sequence[FoundMachine]:
        """Return the machines of this deployment; an ended one is there until it is deleted."""
        prefix = prefix_of(self._tag)
        jobs = await self._call("GET", ["jobs"], prefix=prefix, meta="true")
        return await self._told([job for job in jobs or () if is_machine(job, self._tag)], prefix)

    async def describe(self, name: str) -> FoundMachine | None:
        number = id_of(self._tag, name)
        job = await self._call("GET", ["job", number])
        if job is None or not is_machine(job, self._tag):
            return None
        (machine,) = await self._told([job], number)
        return machine

    async def create(self, machine: WantedMachine) -> FoundMachine:
        """Register a job, unless there is one; report what ends at once."""
        raise_first(wrong_options(machine.options))
        connect = address_for("nodes", "nomad_connect", self._settings.nomad_connect)
        if await self.describe(machine.name) is None:
            job = job_of(machine, connect, self._settings, tag=self._tag)
            token = "" if machine.credential is None else machine.credential.token
            path = token_path(job["ID"])
            variable = {"Path": path, "Items": {KEY: token}}
            await self._call("PUT", ["var", *path.split("/")], variable)
            body = {"Job": job, "EnforceIndex": True, "JobModifyIndex": 0}
            try:
                await self._call("PUT", ["jobs"], body)
            except ProviderError:
                if await self.describe(machine.name) is None:  # nobody else has registered it
                    raise
        return await self._begun(machine.name)

    async def delete(self, name: str) -> None:
        """Stop and remove the job of a name, with its token."""
        number = id_of(self._tag, name)
        job = await self._call("GET", ["job", number])
        if job is not None and is_machine(job, self._tag):
            await self._call("DELETE", ["job", number], purge="true")
        await self._call("DELETE", ["var", *token_path(number).split("/")])

    async def close(self) -> None:
        """Let the next call begin anew."""
        self._client = None

    async def _begun(self, name: str) -> FoundMachine:
        """Return a machine once its worker runs, no node has room, or after a while."""
        return await until_begun(
            lambda: self.describe(name),
            lambda machine: not machine.waits,
            BEGUN_S,
            LOOK_S,
            "the job was removed",
        )

    async def _told(
        self, jobs: Sequence[Mapping[str, Any]], prefix: str
    ) -> Sequence[FoundMachine]:
        """Return what jobs say of their machines; asks once for all that wait or have ended."""
        unplaced: dict[str, str] = {}
        last: dict[str, str] = {}
        if any(job["Status"] == "pending" for job in jobs):
            told = await self._call(
                "GET",
                ["evaluations"],
                filter=f'Status == "blocked" and JobID contains "{prefix}"',
            )
            unplaced = {str(one["JobID"]): why_unplaced(one) for one in told or ()}
        if any(job["Status"] == "dead" for job in jobs):
            told = await self._call(
                "GET",
                ["allocations"],
                task_states="true",
                resources="false",
                filter=f'JobID contains "{prefix}"',
            )
            last = {str(one["JobID"]): _last_words(one) for one in told or ()}
        return [
            machine_of(job, unplaced=unplaced.get(job["ID"], ""), last=last.get(job["ID"], ""))
            for job in jobs
        ]

    async def _call(
        self, method: str, path: Sequence[str], body: object = None, /, **query: str
    ) -> Any:  # noqa: ANN401 (a document of Nomad's)
        if self._client is None:
            try:
                self._client = NomadClient(self._settings)
            except WeftError as error:
                raise ProviderError(str(error)) from None
        return await told_by(self._client.call(method, path, body, **query))


def _last_words(allocation: Mapping[str, Any]) -> str:
    """Return where a task ran and what Nomad says of its end."""
    tasks = [*(allocation.get("TaskStates") or {}).values()]
    said = [
        str(event.get("DisplayMessage") or "")
        for task in tasks
        for event in task.get("Events") or ()
        if event["Type"] in {"Terminated", "Driver Failure", "Setup Failure", "Killed"}
    ]
    where = f"Nomad allocation {allocation['ID'][:8]} on {allocation.get('NodeName') or 'a node'}"
    return f"{where}: {allocation['ClientStatus']} {' '.join(said[:1])}".strip()
