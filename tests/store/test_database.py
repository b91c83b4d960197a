"""Connections that are kept from one call to the next; what asyncpg raises, as the rest of weft
sees it.
"""

import asyncio
import re
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import Any

import asyncpg
import pytest
from asyncpg.transaction import Transaction

from contexts import beside, connected
from store.world import World
from tidy.source_files import product_files
from weft.core.errors import Internal, NulCharacter, ServerReplaced, Unavailable, error_classes
from weft.ports.store import Caller
from weft.store.database import Database, open_database
from weft.store.errors import translated


async def _backends(owner: asyncpg.Connection) -> set[int]:
    rows = await owner.fetch(
        "SELECT pid FROM pg_stat_activity"
        " WHERE usename = 'weft_worker' AND datname = current_database()"
    )
    return {row["pid"] for row in rows}


async def _until_ended(store: Database) -> None:
    """Wait until this process has read the end of the connections that are kept."""
    async with asyncio.timeout(60):
        with suppress(asyncpg.InterfaceError):  # the pool has it already
            while not all(one.connection.is_closed() for one in store._kept):
                await asyncio.sleep(0)


async def test_connections_that_are_kept(own_database: dict[str, str]) -> None:
    """While the server has none left, calls are refused and say so. One that ended meanwhile is
    replaced; calls beyond their number wait for them.
    """
    opened = partial(open_database, own_database["weft_worker"], timeout_s=10)
    async with connected(own_database["admin"]) as owner:
        name = await owner.fetchval("SELECT current_database()")
        async with opened(connections_max=1) as store:
            await owner.execute(f"ALTER DATABASE {name} CONNECTION LIMIT 0")
            with pytest.raises(Unavailable) as refused:
                await store.call("schema_range")
            await owner.execute(f"ALTER DATABASE {name} CONNECTION LIMIT -1")
            for _ in range(3):
                await store.call("schema_range")
                (pid,) = await _backends(owner)
                await owner.fetchval("SELECT pg_terminate_backend($1, 10000)", pid)
                await _until_ended(store)
            await store.call("schema_range")
        async with opened(connections_max=2) as store:
            for _ in range(3):
                await asyncio.gather(*(store.call("schema_range") for _ in range(12)))

            assert len(await _backends(owner)) == 2
    assert "TooManyConnectionsError: too many connections" in refused.value.detail


async def test_another_server_is_told_nothing_before_the_worker_registers(world: World) -> None:
    """It may lack what the worker was told. A server is known by the time when it began."""
    batch, worker, (one,) = await world.submit_and_claim(1)
    world.backend.workers.registered_at[worker.id] = "an earlier server"
    with pytest.raises(ServerReplaced):
        await worker.end(one)
    assert await world.states(batch) == "R"
    await worker.store.register_worker(**worker.facts)

    assert await worker.end(one) == ["ok"]


async def test_a_failed_call_costs_no_connection(database: dict[str, str]) -> None:
    """Nor does one that stands still in a transaction: the server ends it."""

    async def stand_still(connection: asyncpg.Connection) -> None:
        await connection.execute("SET idle_in_transaction_session_timeout = 1")
        while not connection.is_closed():
            await asyncio.sleep(0)
        await connection.fetchval("SELECT 1")

    async with open_database(database["weft_api"], connections_max=1, timeout_s=10) as store:
        for _ in range(3):
            with pytest.raises(Internal):
                await store.call("no_such_function")
            await _cancelled_call(store)
            with pytest.raises(Unavailable):
                await store.trying(stand_still, Caller(1, 1, "ann"))
            await store.call("schema_range")


async def _fail(of: Any, connection: Any = None) -> None:  # noqa: ANN401 (asyncpg has no types)
    (connection or of._connection).terminate()
    raise asyncpg.InternalClientError("cannot switch to state 11")


async def test_a_cancelled_call_ends_so_whatever_its_connection_says(
    database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a loop that outlives outages goes on, and who waits for its end does so for ever."""
    async with open_database(database["weft_api"], connections_max=1, timeout_s=10) as store:
        await store.call("schema_range")
        monkeypatch.setattr(asyncpg.Pool, "release", _fail)
        await _cancelled_call(store)
        monkeypatch.undo()
        await store.call("schema_range")


@pytest.mark.parametrize("kind", ["reading", "trying"])
async def test_a_rollback_that_fails_hides_no_cancellation(
    kind: str, database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever began the transaction: all that uses a connection goes through one place."""
    begun = asyncio.Event()

    async def stand_still(_: asyncpg.Connection) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(Transaction, "_Transaction__rollback", _fail)
    async with open_database(database["weft_api"], connections_max=1, timeout_s=10) as store:
        async with beside(getattr(store, kind)(stand_still, Caller(1, 1, "ann"))) as call:
            await begun.wait()
        assert call.cancelled()
        await store.call("schema_range")


async def test_the_end_waits_for_a_call_under_way(database: dict[str, str]) -> None:
    async with (
        asyncio.timeout(60),
        open_database(database["weft_worker"], connections_max=2, timeout_s=10) as store,
    ):
        await store.call("schema_range")
        call = asyncio.create_task(store.call("schema_range"))
        await asyncio.sleep(0)

    assert await call


async def _cancelled_call(store: Database) -> None:
    async with beside(store.call("schema_range")) as call:
        await asyncio.sleep(0)
    assert call.cancelled()


@pytest.mark.parametrize(
    "error",
    [
        OSError("no route"),
        TimeoutError(),
        asyncpg.InternalClientError("cannot switch to state 12; another operation is in progress"),
        asyncpg.InterfaceError("connection is closed"),
        asyncpg.AdminShutdownError("terminating connection"),
        asyncpg.IdleInTransactionSessionTimeoutError("terminating connection"),
        asyncpg.TooManyConnectionsError("too many clients"),
        asyncpg.DiskFullError("No space left on device"),
        asyncpg.InternalServerError("could not extend file: Disk quota exceeded"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_database_that_is_away_may_be_asked_again(error: Exception) -> None:
    refusal = translated(error)
    is_full = "space" in f"{error}" or "quota" in f"{error}"
    assert (refusal.status, bool(refusal.retry_after_s)) == (507 if is_full else 503, True)


@pytest.mark.parametrize("text", ["a\0b", '{"a\\u0000b": null}'])
async def test_nul_that_no_check_found_is_a_mistake_of_the_caller(
    database: dict[str, str], text: str
) -> None:
    statement = "SELECT $1::text::jsonb" if "{" in text else "SELECT $1::text"
    async with connected(database["weft_api"]) as connection:
        with pytest.raises(asyncpg.PostgresError) as refused:
            await connection.fetchval(statement, text)

    assert isinstance(translated(refused.value), NulCharacter)


def test_every_sqlstate_that_a_function_raises_has_one_class() -> None:
    raised = {
        code
        for path in product_files(".sql").values()
        for code in re.findall(r"'(WF\d{3})'", path.read_text())
    }
    counts = Counter(kind.sqlstate for kind in error_classes() if vars(kind).get("sqlstate"))

    assert dict.fromkeys(raised, 1) == counts
