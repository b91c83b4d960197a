"""Remove the output of deleted batches that this worker keeps.

It looks through everything when notices may have been missed, as at its start, and on a notice at
the batch that it names.
"""

import asyncio
from functools import partial

from weft.ports.log_store import LogKeeper
from weft.ports.patience import until_answered
from weft.ports.store import WorkerStore
from weft.telemetry.log import log

_ASKED_MAX = 1000
"""Batches in one question to the database."""


class LogRemoval:
    """The batches to look at, and the loop that does it."""

    def __init__(self, store: WorkerStore, keeper: LogKeeper) -> None:
        self._store = store
        self._keeper = keeper
        self._removed: set[int] = set()
        self._any = False
        self._wanted = asyncio.Event()

    def look(self, batch_id: int | None) -> None:
        """Look at a batch that was removed; None: at all of them."""
        if batch_id is None:
            self._any = True
        else:
            self._removed.add(batch_id)
        self._wanted.set()

    async def run(self) -> None:
        """Remove what is to go, until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            batches, is_any = self._removed, self._any
            self._removed, self._any = set(), False
            try:
                await self._remove_from(batches, is_any=is_any)
            except OSError as error:
                log.warning("logs.not_removed", error=f"{error}")

    async def _remove_from(self, batches: set[int], *, is_any: bool) -> None:
        """Remove the output of those that the database has removed: a notice proves nothing."""
        kept = set(await self._keeper.batches())
        left = sorted(kept if is_any else kept & batches)
        for first in range(0, len(left), _ASKED_MAX):
            asked = left[first : first + _ASKED_MAX]
            removed = await until_answered(partial(self._store.list_removed, asked))
            if removed:
                await self._keeper.remove(removed)
                log.info("logs.removed", batches=len(removed), first=min(removed))
