"""Connections at rest: those of the pools are closed, the lead shares that of the notices."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import asyncpg
import pytest

from contexts import connected
from weft.core.errors import Unavailable
from weft.store import connections, open_driver_store
from weft.store import database as database_module
from weft.store.database import Database, open_database

DEADLINE_S = 60.0
OPEN = 4
_OF_LOGIN = """FROM pg_stat_activity
    WHERE usename = $1 AND datname = current_database() AND backend_type = 'client backend'"""


@asynccontextmanager
async def _pool(
    dsn: str, monkeypatch: pytest.MonkeyPatch, rest_s: float
) -> AsyncIterator[Database]:
    for module in (connections, database_module):
        monkeypatch.setattr(module, "REST_S", rest_s)
    async with open_database(dsn, connections_max=OPEN, timeout_s=DEADLINE_S) as store:
        yield store


async def _sessions(owner: asyncpg.Connection, login: str) -> set[int]:
    return {row["pid"] for row in await owner.fetch(f"SELECT pid {_OF_LOGIN}", login)}


async def _asleep(connection: asyncpg.Connection) -> int:
    pid: int = await connection.fetchval("SELECT pg_backend_pid() FROM pg_sleep(0.05)")
    return pid


async def _echo(number: int, connection: asyncpg.Connection) -> int:
    found: int = await connection.fetchval("SELECT $1::int", number)
    return found


async def _at_once(store: Database) -> set[int]:
    return set(await asyncio.gather(*(store.reading(_asleep) for _ in range(OPEN))))


async def test_connections_are_closed_after_rest_and_come_back(
    own_database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        asyncio.timeout(DEADLINE_S),
        connected(own_database["admin"]) as owner,
        _pool(own_database["weft_api"], monkeypatch, 0.3) as store,
    ):
        for _ in range(2):
            opened = await _at_once(store)
            while len(left := await _sessions(owner, "weft_api")) > connections.STAY:
                pass

            assert len(opened) == OPEN
            assert left < opened
            assert store._seen.keys() == left


async def test_one_that_is_used_stays(
    own_database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls that come one by one stay on one connection, and those of a burst rest beside it."""
    monkeypatch.setattr(connections, "STAY", 1)
    async with (
        asyncio.timeout(DEADLINE_S),
        connected(own_database["admin"]) as owner,
        _pool(own_database["weft_api"], monkeypatch, 1.0) as store,
    ):
        burst, used = await _at_once(store), set[int]()
        while await _sessions(owner, "weft_api") != used:
            used.add(await store.reading(_asleep))

        assert len(used) == 1
        assert used < burst


@pytest.mark.parametrize("seed", range(3))
async def test_nothing_is_lost_when_one_is_closed_as_it_is_wanted(
    seed: int, own_database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rests and pauses are of one length, so that calls come when connections end."""
    drawn = random.Random(seed)  # noqa: S311 (repeatable)
    rest_s, loop = (0.0, 0.001, 0.005)[seed], asyncio.get_running_loop()

    async def ask(store: Database) -> list[int]:
        found = list[int]()
        for number in range(50):
            found.append(await store.reading(partial(_echo, number)))
            until = loop.time() + drawn.choice((0.0, rest_s, rest_s, rest_s * 1.5))
            while loop.time() < until:
                await asyncio.sleep(0)
        return found

    async with (
        asyncio.timeout(DEADLINE_S),
        _pool(own_database["weft_api"], monkeypatch, rest_s) as store,
    ):
        answers = await asyncio.gather(*(ask(store) for _ in range(2 * OPEN)))

    assert answers == [list(range(50))] * (2 * OPEN)


async def test_lead_shares_the_connection_of_the_notices(own_database: dict[str, str]) -> None:
    """It is let go with it, and the other way round."""
    dsn, login = own_database["weft_driver"], "weft_driver"
    async with (
        asyncio.timeout(DEADLINE_S),
        connected(own_database["admin"]) as owner,
        open_driver_store(dsn) as leader,
        open_driver_store(dsn) as standby,
    ):
        heard, beside = leader.notices.listen("driver"), standby.notices.listen("driver")
        await anext(heard)
        (pid,) = await _sessions(owner, login)
        await anext(beside)
        assert await leader.try_lead() is not None
        assert await standby.try_lead() is None
        assert len(await _sessions(owner, login)) == 2
        await owner.execute("NOTIFY driver, 'fold'")
        assert await anext(heard) == await anext(beside) == ("driver", "fold")

        await owner.fetchval("SELECT pg_terminate_backend($1, 10000)", pid)
        with pytest.raises(Unavailable):
            await anext(heard)
        assert not await leader.still_lead()
        assert await standby.try_lead() is not None
        assert await leader.try_lead() is None

        await standby.stop_leading()
        with pytest.raises(Unavailable):
            await anext(beside)
        while await leader.try_lead() is None:
            pass
        assert await leader.still_lead()
