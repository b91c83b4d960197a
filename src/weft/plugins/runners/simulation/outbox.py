"""Records on their way out. Those that come while others are being written go together in the next
call: one thread and one answer of the broker serve hundreds.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from weft.ports.topics import Record, Topics
from weft.ports.transport import TransportError

_AT_ONCE: Final = 500


class Outbox:
    """What waits to be written."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._waiting: list[tuple[Record, asyncio.Future[bool]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write(self, record: Record) -> bool:
        """Write a record; return whether it is confirmed. One that is not may be at fault itself,
        or stood behind one that was.
        """
        written: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((record, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        return await written

    async def _write(self) -> None:
        while self._waiting:
            some, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
            kept: Sequence[bool] = ()
            try:
                kept = await self._topics.publish([record for record, _ in some])
            except TransportError:
                kept = [False] * len(some)
            finally:
                # Whatever has happened, nobody waits here for ever.
                for index, (_, written) in enumerate(some):
                    if not written.done():
                        written.set_result(index < len(kept) and kept[index])
