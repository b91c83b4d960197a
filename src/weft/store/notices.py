"""LISTEN on a connection of its own."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

import asyncpg

from weft.core.errors import StoreUnavailable
from weft.store.database import CONNECT_TIMEOUT_S, session_name
from weft.store.errors import AWAY, translated

Notice = tuple[str, str]
Put = Callable[[Notice | None], None]
QUEUE_MAX = 10_000


class PostgresNotices:
    """Notices of the database, over one connection: each that listens, to whatever, is woken by
    each commit that notifies of anything.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._joining = asyncio.Lock()
        self._line: _Line | None = None

    async def listen(self, *channels: str) -> AsyncGenerator[Notice, None]:
        """Yield (channel, payload).

        The first is ("", ""): from now on nothing is missed. Raises `Unavailable` when the
        connection ends.
        """
        queue: asyncio.Queue[Notice | None] = asyncio.Queue(QUEUE_MAX)

        def put(notice: Notice | None) -> None:
            if queue.full():  # who falls so far behind listens again, and looks once
                queue.get_nowait()
                notice = None
            queue.put_nowait(notice)

        try:
            async with self._joining:
                if self._line is None or self._line.connection.is_closed():
                    self._line = _Line(await self._connect())
                line = self._line
                await line.join(put, channels)
        except (asyncpg.PostgresError, *AWAY) as error:
            raise translated(error) from error
        try:
            yield "", ""
            while (notice := await queue.get()) is not None:
                yield notice
        finally:
            line.leave(put)
        raise StoreUnavailable(
            "the connection for notices has ended",
            detail="The server closed it.",
            hint="Listen again and look once.",
        )

    async def _connect(self) -> asyncpg.Connection:
        settings = {"application_name": session_name("listen")}
        return await asyncpg.connect(
            self._dsn, timeout=CONNECT_TIMEOUT_S, server_settings=settings
        )


class _Line:
    """A connection, as long as somebody listens on it."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self.connection = connection
        self._channels: dict[Put, Sequence[str]] = {}
        self._heard: set[str] = set()
        connection.add_termination_listener(lambda _connection: self._tell("", None))

    async def join(self, put: Put, channels: Sequence[str]) -> None:
        """Pass on what comes by these channels, and None at the end."""
        self._channels[put] = ("", *channels)
        try:
            for channel in set(channels) - self._heard:
                await self.connection.add_listener(
                    channel, lambda _c, _pid, name, payload: self._tell(name, (name, payload))
                )
                self._heard.add(channel)
        except BaseException:
            self.leave(put)
            raise

    def leave(self, put: Put) -> None:
        """Pass on nothing more. Nobody waits for the server to know."""
        self._channels.pop(put, None)
        if not self._channels:
            self.connection.terminate()

    def _tell(self, channel: str, notice: Notice | None) -> None:
        for put, channels in list(self._channels.items()):
            if channel in channels:
                put(notice)
