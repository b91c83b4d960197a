"""Listeners of one tenant over one transport each, which begin and end as tenants come and go."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection

from weft.core.settling import OF_THE_TERM
from weft.ports.patience import RETRY_LONGEST_S, end_tasks, pause_after
from weft.ports.transport import TransportError
from weft.telemetry.log import log

Key = tuple[str, str]
"""A transport and a tenant, by name."""


class Following:
    """Hears each of those that are wanted, again whenever the transport has gone."""

    def __init__(self, hear: Callable[[Key], Awaitable[None]]) -> None:
        """`hear` raises `TransportError` when the connection ends."""
        self._hear = hear
        self._tasks: dict[Key, asyncio.Task[None]] = {}

    async def follow(self, wanted: Collection[Key]) -> None:
        """Hear these from now on, and no others."""
        await end_tasks([self._tasks.pop(key) for key in self._tasks.keys() - set(wanted)])
        for key in sorted(set(wanted) - self._tasks.keys()):
            self._tasks[key] = asyncio.create_task(self._hear_always(key))

    def raise_failure(self) -> None:
        """Raise with what a listener has ended, if one has."""
        for task in self._tasks.values():
            if task.done():
                task.result()

    async def watch(self, within_s: float) -> None:
        """Wait; raise what a listener has failed with, which ends the term."""
        if not self._tasks:
            await asyncio.sleep(within_s)
            return
        await asyncio.wait(
            self._tasks.values(), timeout=within_s, return_when=asyncio.FIRST_COMPLETED
        )
        self.raise_failure()

    async def end(self) -> None:
        """Hear nothing any more."""
        await end_tasks(self._tasks.values())

    async def _hear_always(self, key: Key) -> None:
        failures = 0
        while True:
            begun = time.monotonic()
            try:
                await self._hear(key)
            except OF_THE_TERM:
                raise
            except Exception as error:
                if not isinstance(error, TransportError):
                    log.exception("transport.hearing_failed", transport=key[0])
                failures = 1 if time.monotonic() - begun > RETRY_LONGEST_S else failures + 1
                if failures == 1:
                    log.warning("transport.away", transport=key[0], error=str(error))
            await pause_after(failures)
