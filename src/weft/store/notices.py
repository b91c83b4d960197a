"""LISTEN on a connection of its own, which also holds the lead of a driver that has it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import asyncpg

from weft.core.errors import StoreUnavailable
from weft.store.database import session_name
from weft.store.errors import AWAY, translated
from weft.store.single_connections import connect_single

Notice = tuple[str, str]
Put = Callable[[Notice | None], None]
QUEUE_MAX = 10_000
SILENT_S = 30.0
"""How often the server is asked whether it still hears the connection. Nothing comes over one
whose bytes are lost, and nothing over one that is well while nothing happens."""
ANSWER_S = 10.0
"""The limit of each call on the connection."""


class PostgresNotices:
    """Notices of the database, over one connection: each that listens, to whatever, is woken by
    each commit that notifies of anything.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._joining = asyncio.Lock()
        self._line: Line | None = None

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
            line = await self.join(put, *channels)
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

    async def join(self, put: Put, *channels: str) -> "Line":
        """Return the connection, which from now on passes on what comes by these channels, and
        None at its end. It stays as long as somebody has not left it. Raises what asyncpg raises.
        """
        async with self._joining:
            if self._line is None or self._line.connection.is_closed():
                self._line = Line(await self._connect())
            line = self._line
            await line.join(put, channels)
        return line

    async def _connect(self) -> asyncpg.Connection:
        return await connect_single(
            self._dsn, call_s=ANSWER_S, application_name=session_name("listen")
        )


class Line:
    """A connection, as long as somebody listens on it, or leads by its lock."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self.connection = connection
        self._channels: dict[Put, Sequence[str]] = {}
        self._heard: set[str] = set()
        self._calling = asyncio.Lock()
        connection.add_termination_listener(self._end)
        self._asking = asyncio.create_task(self._ask_always())

    async def join(self, put: Put, channels: Sequence[str]) -> None:
        """Pass on what comes by these channels, and None at the end."""
        self._channels[put] = ("", *channels)
        try:
            async with self.turn() as connection:
                for channel in set(channels) - self._heard:
                    await connection.add_listener(
                        channel, lambda _c, _pid, name, payload: self._tell(name, (name, payload))
                    )
                    self._heard.add(channel)
        except BaseException:
            self.leave(put)
            raise

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[asyncpg.Connection]:
        """Give the connection for statements, and to nobody else meanwhile."""
        async with self._calling:
            yield self.connection

    def leave(self, put: Put) -> None:
        """Pass on nothing more. Nobody waits for the server to know."""
        self._channels.pop(put, None)
        if not self._channels:
            self.end()

    def end(self) -> None:
        """End the connection: whoever has joined is told."""
        self.connection.terminate()

    async def _ask_always(self) -> None:
        """Give the connection up when it does not answer any more: then those that listen do it
        anew.
        """
        with suppress(asyncpg.PostgresError, *AWAY):
            while True:
                await asyncio.sleep(SILENT_S)
                async with self.turn() as connection:
                    await connection.execute("SELECT")
        self.end()

    def _end(self, _connection: asyncpg.Connection) -> None:
        self._asking.cancel()
        self._tell("", None)

    def _tell(self, channel: str, notice: Notice | None) -> None:
        for put, channels in list(self._channels.items()):
            if channel in channels:
                put(notice)
