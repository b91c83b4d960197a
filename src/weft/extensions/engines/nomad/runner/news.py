"""When to look at Nomad: when its stream of events tells of our allocations, or after a period."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from weft.core.errors import WeftError

_LEAST_S: Final = 0.1
_SHARE: Final = 4
"""The gateway waits this many times longer than its last look took."""
_CALM: Final = 5
"""With a stream, looks without news are rarer by this factor."""


class NewsWatch:
    """Reads a stream as long as somebody waits for news."""

    def __init__(self, stream: Callable[[], AsyncIterator[None]]) -> None:
        self._stream = stream
        self._news = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._is_open = False
        self._looked_at = 0.0
        self._took_s = 0.0

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Note a look: what is told during it is news."""
        self._news.clear()
        start = time.monotonic()
        try:
            yield
        finally:
            self._looked_at = time.monotonic()
            self._took_s = self._looked_at - start

    async def changed(self, look_s: float, *, wanted: bool) -> None:
        """Return when there are news, or when it is time to look without. The more a look costs,
        the rarer it is.
        """
        if wanted and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(self._read())
        rest_s = self._looked_at + max(_LEAST_S, _SHARE * self._took_s) - time.monotonic()
        await asyncio.sleep(max(0.0, rest_s))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), look_s * (_CALM if self._is_open else 1))

    async def _read(self) -> None:
        with suppress(WeftError):
            async for _ in self._stream():
                self._is_open = True
                self._news.set()
        self._is_open = False
        self._news.set()
