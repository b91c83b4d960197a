"""Which nodes behind a gateway are avoided, told to the database when there is one more."""

import asyncio
from collections.abc import Sequence

from weft.core.scheduling.black_holes import AvoidedNode
from weft.ports.patience import until_answered
from weft.ports.store import WorkerStore


class AvoidedNodes:
    """What people are told of bad nodes by `weft worker show`."""

    def __init__(self, store: WorkerStore, incarnation_id: int) -> None:
        self._store = store
        self._incarnation_id = incarnation_id
        self._newest: Sequence[AvoidedNode] = ()
        self._is_new = asyncio.Event()

    def note(self, nodes: Sequence[AvoidedNode]) -> None:
        """Tell these instead of the earlier ones."""
        self._newest = nodes
        self._is_new.set()

    async def run(self) -> None:
        """Tell, until cancelled."""
        while True:
            await self._is_new.wait()
            self._is_new.clear()
            await until_answered(self._tell)

    async def _tell(self) -> None:
        await self._store.note_avoided(self._incarnation_id, self._newest)
