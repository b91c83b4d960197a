"""What workers outside must look at: one connection of the database tells it to all of an api."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from weft.ports.store import Caller
from weft.ports.worker_link import LinkedStore

Notice = tuple[str, str]
BEGUN: Final = ("", "")
"""From now on nothing is missed."""
_CHANNELS: Final = ("work", "cancel", "removed", "worker", "command", "look")
_WAITING_MAX: Final = 1000


class Listener(NamedTuple):
    """Who is told."""

    caller: Caller | None
    """None: this api itself, which waits for an answer."""
    incarnation_id: int
    pool_id: int


class NoticeStream:
    """What is told to one worker."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Notice | None] = asyncio.Queue(_WAITING_MAX)
        self.is_open = True

    def put(self, notice: Notice) -> None:
        """Tell it. A connection that falls this far behind listens again, and looks once."""
        if self._waiting.full():
            self.end()
        else:
            self._waiting.put_nowait(notice)

    def end(self) -> None:
        """Tell no more."""
        self.is_open = False
        if not self._waiting.full():  # else it is awake anyway
            self._waiting.put_nowait(None)

    async def next(self) -> Notice | None:
        """Wait for a notice; None: the stream has ended."""
        notice = await self._waiting.get()
        return notice if self.is_open else None


class LinkNotices:
    """Listens while anybody does."""

    def __init__(self, find_store: Callable[[], LinkedStore]) -> None:
        self._find_store = find_store
        self._streams: dict[NoticeStream, Listener] = {}
        self._listening: asyncio.Task[None] | None = None
        self._has_begun = False
        self.on_look: Callable[[str], None] = lambda _payload: None
        """Is told the notices on `look`, as the database has them."""

    @contextmanager
    def opened(self, listener: Listener) -> Iterator[NoticeStream]:
        """Give a stream, whose first notice is `BEGUN`."""
        stream = NoticeStream()
        self._streams[stream] = listener
        if self._has_begun:
            stream.put(BEGUN)
        elif self._listening is None:
            self._listening = asyncio.create_task(self._listen())
        try:
            yield stream
        finally:
            self._streams.pop(stream, None)
            if not self._streams and self._listening is not None:
                self._listening.cancel()
                self._stop()

    def hears(self, incarnation_id: int) -> bool:
        """Say whether this worker is connected here."""
        return any(stream.incarnation_id == incarnation_id for stream in self._streams.values())

    def tell(self, incarnation_id: int, notice: Notice) -> None:
        """Tell one worker something that is not in the database."""
        for stream, listener in self._streams.items():
            if listener.incarnation_id == incarnation_id:
                stream.put(notice)

    async def _listen(self) -> None:
        """Tell all of them; when the connection is lost, end their streams: they listen again."""
        this = asyncio.current_task()
        with suppress(Exception):  # whatever it is, the workers listen again
            async for notice in self._find_store().notices.listen(*_CHANNELS):
                self._has_begun = self._has_begun or notice == BEGUN
                if notice[0] == "look":
                    self.on_look(notice[1])
                    continue
                for stream, listener in list(self._streams.items()):
                    told = told_of(notice, listener.incarnation_id, listener.pool_id)
                    if told is not None:
                        stream.put(told)
        if self._listening is this:
            self._stop()

    def _stop(self) -> None:
        self._listening, self._has_begun = None, False
        for stream in self._streams:
            stream.end()


def told_of(notice: Notice, incarnation_id: int, pool_id: int) -> Notice | None:
    """Return a notice as this incarnation may be told it; None: it is for others."""
    channel, payload = notice
    if channel == "work":
        pool, _, names = payload.partition(":")
        is_ours = not names or str(incarnation_id) in names.split(",")
        return (channel, str(pool_id)) if pool == str(pool_id) and is_ours else None
    if channel in {"worker", "command"}:
        return notice if payload == str(incarnation_id) else None
    return channel, ""
