"""The port of workers for which submissions claim."""

from collections.abc import Sequence
from typing import Protocol

from weft.ports.store.worker import Claimed

__all__ = ["GivingStore"]


class GivingStore(Protocol):
    """A store that claims for a worker which sleeps, where a submission makes little work visible
    (ADR 183). A worker outside has none.
    """

    async def wait_to_be_given(self, incarnation_id: int) -> bool:
        """Record that this worker waits, as `WorkerStore.wait_for_work` does; the notice on `work`
        may also be `3:=17` (pool, incarnation): `list_given` has something.
        """

    async def list_given(self, incarnation_id: int) -> Sequence[tuple[int, Claimed]]:
        """Return what was claimed for this worker and has not started, by the number of the claim,
        until `heartbeat` has heard of that.
        """
