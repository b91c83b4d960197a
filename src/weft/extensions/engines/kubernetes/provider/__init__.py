"""The provider `kubernetes`: pods of a cluster in which a worker runs that reaches the api.

A machine is a pod with the deployment's tag as a label and the machine's name as an annotation.
Its own name follows from both, so that it is made once. Only what has them is ever listed or
deleted.
Kubernetes keeps it waiting as long as no node has room.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from weft.core.errors import WeftError
from weft.extensions.engines.kubernetes.provider.pods import (
    END_S,
    MACHINES,
    is_machine,
    machine_of,
    name_of,
    pod_of,
    secret_of,
    wrong_options,
)
from weft.extensions.engines.kubernetes.runner.client import KubernetesClient
from weft.extensions.engines.kubernetes.runner.config import access_of
from weft.extensions.engines.kubernetes.runner.secrets import OPEN, is_gated
from weft.extensions.engines.kubernetes.settings import KubernetesSettings
from weft.plugins.providers.pool_options import address_for, raise_first, told_by, until_begun
from weft.ports.provider import FoundMachine, ProviderError, ProviderSite, WantedMachine

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
            BEGUN_S, LOOK_S, "the pod was deleted",
        )  # fmt: skip

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
