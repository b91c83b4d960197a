"""LISTEN on a connection of its own."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg

from weft.core.errors import StoreUnavailable
from weft.store.database import CONNECT_TIMEOUT_S, session_name
from weft.store.errors import AWAY, translated

Notice = tuple[str, str]
QUEUE_MAX = 10_000


class PostgresNotices:
    """Notices of the database. Each `listen` holds one connection."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    async def listen(self, *channels: str) -> AsyncIterator[Notice]:
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
            connection = await asyncpg.connect(
                self._dsn,
                timeout=CONNECT_TIMEOUT_S,
                server_settings={"application_name": session_name("listen")},
            )
        except (asyncpg.PostgresError, *AWAY) as error:
            raise translated(error) from error
        try:
            connection.add_termination_listener(lambda _connection: put(None))
            for channel in channels:
                await connection.add_listener(
                    channel, lambda _c, _pid, name, payload: put((name, payload))
                )
            yield "", ""
            while (notice := await queue.get()) is not None:
                yield notice
        except (asyncpg.PostgresError, *AWAY) as error:
            raise translated(error) from error
        finally:
            connection.terminate()
        raise StoreUnavailable(
            "the connection for notices has ended",
            detail="The server closed it.",
            hint="Listen again and look once.",
        )
