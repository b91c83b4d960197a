"""The provider `kubernetes`: pods of a cluster in which a worker runs that reaches the api.

A machine is a pod with the deployment's tag as a label and the machine's name as an annotation.
Its own name follows from both, so that it is made once. Only what has them is ever listed or
deleted.
Kubernetes keeps it waiting as long as no node has room.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import ClassVar, Final, TypeVar

from weft.core.errors import WeftError
from weft.core.pools.pool import Option
from weft.extensions.engines.kubernetes.provider.options import check_options, wrong_options
from weft.extensions.engines.kubernetes.provider.pods import (
    END_S,
    MACHINES,
    is_machine,
    machine_of,
    name_of,
    pod_of,
    secret_of,
)
from weft.extensions.engines.kubernetes.runner.client import KubernetesClient
from weft.extensions.engines.kubernetes.runner.config import access_of
from weft.extensions.engines.kubernetes.runner.secrets import OPEN, is_gated
from weft.extensions.engines.kubernetes.runner.settings import KubernetesSettings
from weft.plugins.providers.pool_options import until_begun
from weft.ports.provider import FoundMachine, ProviderError, ProviderSite, WantedMachine

Found = TypeVar("Found")
BEGUN_S: Final = 10.0
"""A call that makes a pod looks for so long whether the cluster gives it up at once."""
LOOK_S: Final = 0.5
_SCHEDULER: Final = "Unschedulable"


class KubernetesProvider:
    """The port `Provider` on pods of Kubernetes."""

    wants_credentials: ClassVar = True
    has_queue: ClassVar = True

    def __init__(self, site: ProviderSite) -> None:
        self._settings = site.section(KubernetesSettings)
        self._tag = site.tag
        self._client: KubernetesClient | None = None

    @staticmethod
    def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
        """Return what is wrong with the options of a pool."""
        return wrong_options(options)

    async def list(self) -> Sequence[FoundMachine]:
        """Return the machines of this deployment; an ended one is there until it is deleted."""
        pods, _ = await _asked(self._calls().listed(f"{MACHINES}={self._tag}"))
        image_s = self._settings.kubernetes_image_s
        return [machine_of(pod, image_s) for pod in pods if is_machine(pod, self._tag)]

    async def describe(self, name: str) -> FoundMachine | None:
        """Return a machine by name; None: it is not there, or goes."""
        pod = await _asked(self._calls().get(name_of(self._tag, name)))
        if pod is None or not is_machine(pod, self._tag):
            return None
        return machine_of(pod, self._settings.kubernetes_image_s)

    async def create(self, machine: WantedMachine) -> FoundMachine:
        """Make a pod, unless there is one; report what the cluster gives up at once."""
        check_options(machine.options)
        connect = self._settings.kubernetes_connect
        if connect is None:
            raise ProviderError(
                "the setting kubernetes_connect is missing: pods must know the api's address"
            )
        image = str(machine.options.get("image", self._settings.kubernetes_worker_image))
        if not image:
            raise ProviderError("no image: set the pool's option image or kubernetes_worker_image")
        client = self._calls()
        pod = pod_of(machine, image, connect, self._settings, tag=self._tag)
        name = pod["metadata"]["name"]
        made = await _asked(client.create(pod)) or await _asked(client.get(name))
        if made is None or not is_machine(made, self._tag):
            raise ProviderError(f"pod {name} is being deleted")
        if is_gated(made):  # also one whose maker died before its Secret was there
            try:
                await _asked(client.create_secret(secret_of(made, machine)))
            except ProviderError:
                await _asked(client.delete(name, grace_s=0))
                raise
            await _asked(client.patch(name, OPEN))
        return await self._begun(machine.name)

    async def delete(self, name: str) -> None:
        """Delete the pod of a name, with its Secret."""
        pod = await _asked(self._calls().get(name_of(self._tag, name)))
        if pod is not None and is_machine(pod, self._tag):
            await _asked(self._calls().delete(pod["metadata"]["name"], grace_s=END_S))

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
    pods, _ = await _asked(client.listed(MACHINES))
    return f"namespace {settings.kubernetes_namespace} answers, worker pods: {len(pods)}"


async def _asked(call: Awaitable[Found]) -> Found:
    """Return what Kubernetes answers. Raise `ProviderError` if it does not, or refuses."""
    try:
        return await call
    except WeftError as error:
        raise ProviderError(str(error), is_full="quota" in str(error)) from None
