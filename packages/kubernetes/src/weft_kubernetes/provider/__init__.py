"""The provider `kubernetes`: pods of a cluster in which a worker runs that reaches the api.

A machine is a pod with the deployment's tag as a label and the machine's name as an annotation.
Its own name follows from both, so that it is made once. Only what has them is ever listed or
deleted.
Kubernetes keeps it waiting as long as no node has room.

The pod of a machine: its one container runs a worker that reaches the api.

The token is in a Secret of Kubernetes that the pod owns; the pod has its name, not its value. It
is made with a gate, which is opened once the Secret is there, as the pods of attempts are. And the
options that a pool has for the provider `kubernetes`.
"""

import asyncio
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from weft.core.errors import WeftError
from weft.core.findings import Finding
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
from weft.settings import Settings, variable_of
from weft_kubernetes.runner import statuses
from weft_kubernetes.runner.client import KubernetesClient
from weft_kubernetes.runner.config import access_of
from weft_kubernetes.runner.pods import literal
from weft_kubernetes.runner.secrets import GATE, OPEN, is_gated, owned_secret
from weft_kubernetes.settings import KubernetesSettings

TEXTS: Final = frozenset(
    {
        "image",
        "program",
        "node_selector",
        "tolerations",
        "priority_class",
        "service_account",
        "pull_secret",
    }
)


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without a cluster."""
    wrong = wrong_usual("kubernetes", options, TEXTS, "in the image")
    if any(not value for value in words_in(options, "node_selector").values()):
        wrong["node_selector"] = "expected labels of nodes, as disk=ssd,zone=a"
    return wrong


def words_in(options: Mapping[str, Option], name: str) -> dict[str, str]:
    """Return an option of words as `a=b,c`; a word without a value has an empty one."""
    words = (one.strip().partition("=") for one in str(options.get(name, "")).split(","))
    return {word: value for word, _, value in words if word}


MACHINES: Final = "weft/machines"
"""The label of all machines of a deployment; its value is the deployment's tag."""
MACHINE: Final = "weft/machine"
POOL: Final = "weft/pool"
END_S: Final = 60
"""So long has a worker to end in order."""
_WORKER: Final = "worker"
_HOME: Final = "/var/lib/weft"
_PLACE: Final = "/run/weft"
_KEY: Final = "worker"
_GIVEN: Final = "POD_TOKEN"
"""The variable that names the token's file in the mount, which is root's and has no private mode
for other users.
"""
_BEGIN: Final = (
    f'(umask 077 && cat "${_GIVEN}" >"${variable_of("token_file")}") && exec "$1" worker'
)
_OWN_MIB: Final = 256
"""What a worker needs beside its jobs."""
_ZONE: Final = "topology.kubernetes.io/zone"
_NEVER: Final = frozenset(
    {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
)
_SLUG_MAX: Final = 40


def name_of(tag: str, machine: str) -> str:
    """Return the name of a machine's pod; machines may have longer names than pods."""
    digest = hashlib.sha256(f"{tag}/{machine}".encode()).hexdigest()[:16]
    slug = re.sub(r"[^a-z0-9]+", "-", machine.lower()).strip("-")[:_SLUG_MAX].strip("-")
    return f"weft-{slug}-{digest}" if slug else f"weft-{digest}"


def pod_of(
    machine: WantedMachine, image: str, connect: str, settings: KubernetesSettings, *, tag: str
) -> dict[str, Any]:
    """Return the pod of a machine."""
    name, program = name_of(tag, machine.name), str(machine.options.get("program", PROGRAM))
    variables = worker_variables(
        machine,
        connect=connect,
        home=_HOME,
        token_file=f"{_HOME}/token",
        **({} if machine.flavour.gpus else {"worker_gpus": "none"}),
    )
    container = {
        "name": _WORKER,
        "image": image,
        "command": [literal(one) for one in (SHELL, "-c", _BEGIN, SHELL, program)],
        "env": [
            {"name": key, "value": literal(text)}
            for key, text in {**variables, _GIVEN: f"{_PLACE}/{_KEY}"}.items()
        ],
        "resources": _resources_of(machine, settings),
        "securityContext": {"allowPrivilegeEscalation": False},
        "volumeMounts": [
            {"name": "home", "mountPath": _HOME},
            {"name": "token", "mountPath": _PLACE, "readOnly": True},
        ],
    }
    items = [{"key": _KEY, "path": _KEY}]
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "shareProcessNamespace": True,  # its first process reaps what jobs leave behind
        "terminationGracePeriodSeconds": END_S,
        "schedulingGates": [{"name": GATE}],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [
            {"name": "home", "emptyDir": {}},
            {"name": "token", "secret": {"secretName": name, "items": items}},
        ],
        **_placement_of(machine),
    }
    if machine.flavour.walltime_s:
        spec["activeDeadlineSeconds"] = machine.flavour.walltime_s
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {MACHINES: tag},
            "annotations": {MACHINE: machine.name, POOL: machine.pool},
        },
        "spec": spec,
    }


def secret_of(pod: Mapping[str, Any], machine: WantedMachine) -> dict[str, Any]:
    """Return the Secret of a pod that has been made."""
    token = "" if machine.credential is None else machine.credential.token
    return owned_secret(pod, {_KEY: f"{token}\n"})


def machine_of(pod: Mapping[str, Any], image_s: float) -> FoundMachine:
    """Return what a pod says of its machine. `image_s`: how long an image is pulled in vain."""
    meta, phase = pod["metadata"], pod["status"].get("phase")
    where, error, waits = statuses.where_of(pod), "", ""
    word = (statuses.state_of(pod).get("waiting") or {}).get("reason")
    if phase == "Succeeded":
        error = f"its worker has ended: {where}"
    elif phase == "Failed":
        error = f"its worker has failed: {where}"
    elif (
        word == statuses.NEVER_AN_IMAGE
        or word in _NEVER
        or (word in statuses.NO_IMAGE and statuses.age_s(pod) > image_s)
    ):
        error = where
    elif not statuses.has_begun(pod):
        waits = where
    return FoundMachine(
        name=meta["annotations"][MACHINE], provider_id=meta["uid"], error=error, waits=waits
    )


def is_machine(pod: Mapping[str, Any], tag: str) -> bool:
    """Say whether a pod is a machine of a deployment; one that goes is none any more."""
    meta = pod["metadata"]
    is_ours = (meta.get("labels") or {}).get(MACHINES) == tag
    return (
        is_ours and MACHINE in (meta.get("annotations") or {}) and "deletionTimestamp" not in meta
    )


def _resources_of(machine: WantedMachine, settings: KubernetesSettings) -> dict[str, Any]:
    flavour = machine.flavour
    memory = f"{flavour.memory_mib + _OWN_MIB}Mi"
    own = {"ephemeral-storage": f"{flavour.storage_mib}Mi"} if flavour.storage_mib else {}
    limits = {"memory": memory, **own}
    if flavour.gpus:
        limits[settings.kubernetes_gpu] = str(flavour.gpus)
    return {"requests": {"cpu": f"{flavour.cpu_m}m", "memory": memory, **own}, "limits": limits}


def _placement_of(machine: WantedMachine) -> dict[str, Any]:
    options = machine.options
    chosen = words_in(options, "node_selector")
    if machine.region:
        chosen[_ZONE] = machine.region
    found: dict[str, Any] = {"nodeSelector": chosen} if chosen else {}
    if tolerated := words_in(options, "tolerations"):
        found["tolerations"] = [
            {"key": key, "operator": "Equal", "value": value}
            if value
            else {"key": key, "operator": "Exists"}
            for key, value in tolerated.items()
        ]
    if "priority_class" in options:
        found["priorityClassName"] = str(options["priority_class"])
    if "service_account" in options:
        found["serviceAccountName"] = str(options["service_account"])
    if "pull_secret" in options:
        found["imagePullSecrets"] = [{"name": str(options["pull_secret"])}]
    return found


BEGUN_S: Final = 10.0
"""A call that makes a pod looks for so long whether the cluster gives it up at once."""
LOOK_S: Final = 0.5
_SCHEDULER: Final = "Unschedulable"


class KubernetesProvider:
    """The port `Provider` on pods of Kubernetes."""

    wants_credentials: ClassVar = True
    wrong_options = staticmethod(wrong_options)
    has_queue: ClassVar = True

    def __init__(self, site: ProviderSite) -> None:
        self._settings = site.section(KubernetesSettings)
        self._tag = site.tag
        self._client: KubernetesClient | None = None

    async def list(self) -> Sequence[FoundMachine]:
        """Return the machines of this deployment; an ended one is there until it is deleted."""
        pods, _ = await told_by(self._calls().listed(f"{MACHINES}={self._tag}"))
        image_s = self._settings.kubernetes_image_s
        return [machine_of(pod, image_s) for pod in pods if is_machine(pod, self._tag)]

    async def describe(self, name: str) -> FoundMachine | None:
        pod = await told_by(self._calls().get(name_of(self._tag, name)))
        if pod is None or not is_machine(pod, self._tag):
            return None
        return machine_of(pod, self._settings.kubernetes_image_s)

    async def create(self, machine: WantedMachine) -> FoundMachine:
        """Make a pod, unless there is one; report what the cluster gives up at once."""
        raise_first(wrong_options(machine.options))
        connect = address_for("pods", "kubernetes_connect", self._settings.kubernetes_connect)
        image = str(machine.options.get("image", self._settings.kubernetes_worker_image))
        if not image:
            raise ProviderError("no image: set the pool's option image or kubernetes_worker_image")
        client = self._calls()
        pod = pod_of(machine, image, connect, self._settings, tag=self._tag)
        name = pod["metadata"]["name"]
        made = await told_by(client.create(pod)) or await told_by(client.get(name))
        if made is None or not is_machine(made, self._tag):
            raise ProviderError(f"pod {name} is being deleted")
        if is_gated(made):  # also one whose maker died before its Secret was there
            try:
                await told_by(client.create_secret(secret_of(made, machine)))
            except ProviderError:
                await told_by(client.delete(name, grace_s=0))
                raise
            await told_by(client.patch(name, OPEN))
        return await self._begun(machine.name)

    async def delete(self, name: str) -> None:
        pod = await told_by(self._calls().get(name_of(self._tag, name)))
        if pod is not None and is_machine(pod, self._tag):
            await told_by(self._calls().delete(pod["metadata"]["name"], grace_s=END_S))

    async def close(self) -> None:
        """Let the next call begin anew."""
        self._client = None

    async def _begun(self, name: str) -> FoundMachine:
        """Return a machine once its worker runs, no node has room, or after a while."""
        return await until_begun(
            lambda: self.describe(name),
            lambda machine: not machine.waits or _SCHEDULER in machine.waits,
            BEGUN_S,
            LOOK_S,
            "the pod was deleted",
        )

    def _calls(self) -> KubernetesClient:
        """Return the way to the cluster. Raise `ProviderError`."""
        if self._client is None:
            try:
                self._client = KubernetesClient(access_of(self._settings), self._settings)
            except WeftError as error:
                raise ProviderError(str(error)) from None
        return self._client


async def check_cluster(settings: KubernetesSettings) -> str:
    """Return what the cluster says of the credential. Raise `ProviderError`."""
    try:
        client = KubernetesClient(access_of(settings), settings)
    except WeftError as error:
        raise ProviderError(str(error)) from None
    pods, _ = await told_by(client.listed(MACHINES))
    return f"namespace {settings.kubernetes_namespace} answers, worker pods: {len(pods)}"


def check_clusters(settings: Settings) -> Iterator[Finding]:
    """Yield whether those that the settings name answer; nothing if they name none."""
    cluster = settings.section(KubernetesSettings)
    if cluster.kubernetes_connect is None:
        return
    try:
        yield Finding("kubernetes", "ok", asyncio.run(check_cluster(cluster)))
    except ProviderError as error:
        advice = "See docs/guides/kubernetes.md for the settings and the role."
        yield Finding("kubernetes", "wrong", str(error), advice)
