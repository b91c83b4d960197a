"""The calls of the api about workers, for those who operate them."""

from collections.abc import Sequence
from typing import Protocol

from weft.ports.store.callers import Caller, Row


class FleetStore(Protocol):
    """Workers as their operators see them.

    Callers see workers of the pools that `PoolStore.list_pools` shows them.
    A worker is given by its name, and by its pool if several pools have one of that name. Raise
    `WorkerNotFound`, `WorkerAmbiguous`, and `WorkerEnded` where its state would change.
    """

    async def list_workers(
        self,
        caller: Caller,
        *,
        with_deleted: bool,
        limit: int,
        after: tuple[str, str] | None = None,
    ) -> Sequence[Row]:
        """Return worker documents by name; those that have ended in order only if asked for.
        `after`: name and pool of the last worker of the page before.
        """

    async def sum_workers(self, caller: Caller, *, limit: int) -> Row:
        """Return `n_workers` that live, what they have (`cpu`, `memory`), `cpu_used` by jobs as of
        the last fold, and `set_aside`: `worker, pool, state, cordoned_at, cordon_reason` of those
        that take no jobs for a reason, at most `limit`.
        """

    async def get_worker(self, caller: Caller, name: str, pool: str | None) -> Row:
        """Return the document of a worker with its `history`, newest first."""

    async def cordon_worker(
        self, caller: Caller, name: str, pool: str | None, *, reason: str | None
    ) -> bool:
        """Let a worker take no new job; return whether it was not cordoned."""

    async def drain_worker(
        self, caller: Caller, name: str, pool: str | None, *, reason: str | None
    ) -> bool:
        """Let a worker take no new job and end when nothing runs; return whether that is new."""

    async def uncordon_worker(self, caller: Caller, name: str, pool: str | None) -> bool:
        """Let a worker take jobs again; return whether it was cordoned."""

    async def lose_worker(self, caller: Caller, name: str, pool: str | None) -> bool:
        """Give up a silent worker: its attempts are lost. Return whether it lived. Raise
        `WorkerAtWork` if it was heard of just now.
        """
