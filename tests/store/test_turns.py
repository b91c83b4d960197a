"""What one user's calls take of the connections, and what they leave to others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import asyncpg
import pytest

from weft.core.errors import TooManyAtOnce
from weft.ports.store import Caller
from weft.store import turns
from weft.store.connections import Kept, index_for
from weft.store.database import Database, open_database

ANN, BOB, EVE = (Caller(1, number, name) for number, name in ((1, "ann"), (2, "bob"), (3, "eve")))


class Held:
    """A call that goes on until it may end."""

    def __init__(self, store: Database, caller: Caller) -> None:
        self.has_begun = asyncio.Event()
        self._may_end = asyncio.Event()
        self.task = asyncio.create_task(store.reading(self._work, caller))

    async def _work(self, connection: asyncpg.Connection) -> int:
        self.has_begun.set()
        await self._may_end.wait()
        return await backend(connection)

    async def end(self) -> int:
        self._may_end.set()
        return await self.task


async def backend(connection: asyncpg.Connection) -> int:
    return int(await connection.fetchval("SELECT pg_backend_pid()"))


@asynccontextmanager
async def opened(database: dict[str, str]) -> AsyncIterator[Database]:
    async with (
        asyncio.timeout(60),
        open_database(
            database["weft_worker"], connections_max=3, timeout_s=10, user_connections_max=2
        ) as store,
    ):
        yield store


async def test_who_serves_everybody_waits_for_nobodys_turn(database: dict[str, str]) -> None:
    """As the reader of events and what submits schedules do, in the name of one after another."""
    async with opened(database) as store:
        calls = [Held(store, ANN) for _ in range(2)]
        for call in calls:
            await call.has_begun.wait()

        assert await store.reading(backend, replace(ANN, in_turn=False))
        for call in calls:
            await call.end()


async def test_one_who_has_all_his_turns_waits_for_himself(database: dict[str, str]) -> None:
    async with opened(database) as store:
        calls = [Held(store, ANN) for _ in range(4)]
        for call in calls[:2]:
            await call.has_begun.wait()

        assert await store.reading(backend, BOB)
        assert [call.has_begun.is_set() for call in calls] == [True, True, False, False]
        calls[2].task.cancel()
        await calls[1].end()
        await calls[3].has_begun.wait()  # in the order in which they came
        await calls[0].end()
        await calls[3].end()
        assert await store.reading(backend, ANN)


async def test_call_that_gets_no_turn_in_time_is_refused(
    database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database) as store:
        calls = [Held(store, ANN) for _ in range(2)]
        for call in calls:
            await call.has_begun.wait()
        monkeypatch.setattr(turns, "WAIT_S", 0.0)

        with pytest.raises(TooManyAtOnce) as refused:
            await store.reading(backend, ANN)
        assert (refused.value.code, refused.value.status) == ("API.TOO_MANY_AT_ONCE", 429)
        assert refused.value.retry_after_s == 1
        assert store.outage.is_over
        await asyncio.gather(*(call.end() for call in calls))


async def test_user_stays_on_a_connection_while_others_come_and_go(
    database: dict[str, str],
) -> None:
    """Each connection makes its plans by itself."""
    async with opened(database) as store:
        await together(store, ANN, BOB, EVE)
        found = {await store.reading(backend, ANN) for _ in range(3)}
        for others in ((BOB, EVE), (BOB, BOB), (EVE, EVE), (EVE, BOB)):
            await together(store, *others)
            found.add(await store.reading(backend, ANN))
        calls = [Held(store, caller) for caller in (BOB, EVE)]
        for call in calls:
            await call.has_begun.wait()
        # The third connection is left, on which others than users wait for each other.
        await asyncio.gather(*(store.call("schema_range") for _ in range(3)))
        (hers,) = store._kept
        assert hers.user == turns.user_of(ANN)
        for call in calls:
            await call.end()
        found.add(await store.reading(backend, ANN))

        assert len(found) == 1


async def test_calls_of_others_do_not_age_the_connection_of_a_user(
    database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One goes back to the pool after many calls of its own, and then serves whoever is next."""
    monkeypatch.setattr("weft.store.database.KEPT_CALLS", 10)
    async with opened(database) as store:
        await together(store, ANN, BOB)
        found = {await store.reading(backend, ANN)}
        for _ in range(6):
            await store.reading(backend, BOB)
        for _ in range(3):
            found.add(await store.reading(backend, ANN))

        assert len(found) == 1


async def together(store: Database, *callers: Caller) -> None:
    """Let calls be under way at the same time."""
    calls = [Held(store, caller) for caller in callers]
    for call in calls:
        await call.has_begun.wait()
    for call in calls:
        await call.end()


@pytest.mark.parametrize(
    ("user", "kept", "expected"),
    [
        ("ann", [("ann", 5), ("bob", 9), ("ann", 1)], 0),
        ("ann", [("ann", 5), ("ann", 5), ("bob", 1)], 1),
        ("eve", [("ann", 5), ("bob", 9), (None, 0), ("ann", 1)], 2),
        ("eve", [("ann", 1), ("bob", 1), ("ann", 7)], 1),
        (None, [("ann", 5), ("bob", 3)], 1),
        (None, [(None, 0), (None, 0)], 1),
    ],
)
def test_call_takes_its_users_connection_or_the_one_that_is_least_anybodys(
    user: str | None, kept: list[tuple[str | None, int]], expected: int
) -> None:
    ids = {"ann": (1, 1), "bob": (1, 2), "eve": (1, 3), None: None}
    connections = []
    for name, calls in kept:
        connections.append(Kept(None))  # none is needed to choose
        for _ in range(calls):
            connections[-1].note(ids[name])
            connections[-1].note(None)

    assert index_for(ids[user], connections) == expected


def test_calls_of_nobody_stay_on_the_connection_that_has_worked_most() -> None:
    """It has the plans; of those that have worked as much it is the last one."""
    kept = [Kept(None) for _ in range(3)]
    found = []
    for n_calls in ((0, 0, 0), (5, 9, 9), (9, 5, 0)):
        for one, calls in zip(kept, n_calls, strict=True):
            one.n_calls = calls
        found.append(index_for(None, kept))

    assert found == [2, 2, 0]
