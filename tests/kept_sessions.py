"""Sessions of the database that outlive the pool that opened them, for the next test's pool.

A session that has compiled and planned weft's functions answers a submission in 10 ms, a new one
in 100: most tests would spend most of their time on what the test before has spent it on.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import asyncpg

from weft.store.database import prepare_connection

ENDS: list[Callable[[], Awaitable[None]]] = []
"""What else is kept: called after the last test, on the loop of all tests."""


class KeptSessions:
    """Sessions of one event loop that no pool has."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.make_pool = asyncpg.create_pool
        """As asyncpg does: for a test of who is connected."""
        self._idle: dict[object, list[_Session]] = defaultdict(list)

    def create_pool(self, dsn: str, **options: Any) -> asyncpg.Pool:  # noqa: ANN401 (of asyncpg)
        """Make a pool as asyncpg does, whose sessions are kept."""
        if asyncio.get_running_loop() is not self._loop:
            return self.make_pool(dsn, **options)
        connect = partial(self._connect, options.pop("init"))
        return self.make_pool(dsn, connect=connect, connection_class=_Session, **options)

    async def _connect(
        self,
        init: Callable[[asyncpg.Connection], Awaitable[None]],
        dsn: str,
        **options: Any,  # noqa: ANN401 (as above)
    ) -> asyncpg.Connection:
        kind = (init, dsn, options.get("command_timeout"), str(options.get("server_settings")))
        idle = self._idle[kind]
        while idle:
            session = idle.pop()
            if not session.is_closed():
                return session
        session = await asyncpg.connect(dsn, **options)
        try:
            await init(session)  # once: it makes the session forget its statements
        except BaseException:
            session.terminate()
            raise
        session.idle = idle
        return session

    def pids(self) -> Collection[int]:
        """Return the processes of those that no pool has."""
        return [
            session.get_server_pid()
            for idle in self._idle.values()
            for session in idle
            if not session.is_closed()
        ]

    async def close(self) -> None:
        """End all that no pool has, and what else is kept."""
        for end in ENDS:
            await end()
        for idle in self._idle.values():
            for session in idle:
                session.terminate()


class _Session(asyncpg.Connection):  # type: ignore[misc]  # asyncpg has no types
    """A connection that its pool does not close but leave to the next one."""

    __slots__ = ("idle",)
    idle: list["_Session"]

    async def close(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109 (asyncpg's)
        """Leave the pool, intact."""
        if self.is_closed() or self.is_in_transaction():
            await super().close(timeout=timeout)
            return
        pool: Any = self
        holder, pool._pool_holder = pool._pool_holder(), None
        holder._release_on_close()
        self.idle.append(self)


@asynccontextmanager
async def kept_session(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Give a session that a test before may have had; its settings are those of a new one."""
    pool = asyncpg.create_pool(dsn, min_size=0, max_size=1, init=prepare_connection)
    async with pool, pool.acquire() as session:
        yield session
