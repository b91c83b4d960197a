"""Half-open connections to the database are given up within their limits."""

import ast
import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from contexts import beside, connected
from half_open_wires import HalfOpenWire, half_open_wire
from weft.core.errors import Unavailable
from weft.driver.adapters import Adapters
from weft.driver.lead import Driver
from weft.settings import Settings
from weft.store import driver_store, notices, open_admin, open_driver_store, single_connections
from weft.store.database import open_database
from weft.store.notices import PostgresNotices

ROOT = Path(__file__).parents[2]
DEADLINE_S = 60.0
LIMIT_S = 1.0
CONNECTING = {
    "src/weft/store/single_connections.py": "all single connections of weft to its own database",
    "packages/lines/src/weft_lines/sources/sql.py": "a foreign one: each ask has a limit",
    "packages/siege/src/weft_siege/pair.py": "a look at what a siege has left, with limits",
    "src/weft/bench/figures.py": "a measurement, watched by whoever runs it",
    "src/weft/bench/runners.py": "a measurement",
    "src/weft/bench/statemachine.py": "a measurement",
    "src/weft/bench/submit.py": "a measurement",
}

Walk = Callable[[HalfOpenWire], Coroutine[Any, Any, None]]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each limit a second, for the test not to last two minutes."""
    for module, name in (
        (single_connections, "CALL_S"),
        (single_connections, "CONNECT_TIMEOUT_S"),
        (notices, "SILENT_S"),
        (notices, "ANSWER_S"),
        (driver_store, "HEARTBEAT_TIMEOUT_S"),
        (driver_store, "BEGIN_TIMEOUT_S"),
    ):
        monkeypatch.setattr(module, name, LIMIT_S)


def test_single_connections_are_made_in_one_place() -> None:
    found = {
        str(path.relative_to(ROOT))
        for home in (ROOT / "src", *ROOT.glob("packages/*/src"))
        for path in home.rglob("*.py")
        if "asyncpg.connect" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("asyncpg.connect")
    }
    assert found == CONNECTING.keys()


async def _proving_the_lead(wire: HalfOpenWire) -> None:
    async with open_driver_store(wire.dsn) as store:
        assert await store.try_lead() is not None
        await wire.lose()
        assert not await store.still_lead()


async def _beginning_a_term(wire: HalfOpenWire) -> None:
    async with open_driver_store(wire.dsn) as store:
        assert await store.try_lead() is not None
        await wire.lose()
        with pytest.raises(Unavailable):
            await store.try_lead()


async def _listening(wire: HalfOpenWire) -> None:
    heard = PostgresNotices(wire.dsn).listen("driver")
    assert await anext(heard) == ("", "")
    await wire.lose()
    with pytest.raises(Unavailable):
        await anext(heard)


async def _listening_to_more(wire: HalfOpenWire) -> None:
    line = PostgresNotices(wire.dsn)
    first = line.listen("driver")
    assert await anext(first) == ("", "")
    await wire.lose()
    with pytest.raises(Unavailable):
        await anext(line.listen("worker"))
    with pytest.raises(Unavailable):
        await anext(first)


async def _asking_as_the_owner(wire: HalfOpenWire) -> None:
    async with open_admin(wire.dsn) as admin:
        await wire.lose()
        with pytest.raises(TimeoutError):
            await admin.status()


async def _ending_as_the_owner(wire: HalfOpenWire) -> None:
    async with open_admin(wire.dsn):
        await wire.lose()


async def _changing_as_the_owner(wire: HalfOpenWire) -> None:
    with pytest.raises(Unavailable):
        async with open_admin(wire.dsn) as admin, admin.recorded("try", "try", "nobody"):
            await wire.lose()


async def _calling_on_a_pool(wire: HalfOpenWire) -> None:
    async with open_database(wire.dsn, connections_max=1, timeout_s=LIMIT_S) as database:
        await database.call("events_now")
        await wire.lose()
        with pytest.raises(Unavailable):
            await database.call("events_now")
        await database.call("events_now")


async def _closing_a_pool(wire: HalfOpenWire) -> None:
    async with open_database(wire.dsn, connections_max=1, timeout_s=LIMIT_S) as database:
        await database.call("events_now")
        await wire.lose()


WALKS: dict[Walk, str] = {
    _proving_the_lead: "weft_driver",
    _beginning_a_term: "weft_driver",
    _listening: "weft_driver",
    _listening_to_more: "weft_worker",
    _asking_as_the_owner: "admin",
    _ending_as_the_owner: "admin",
    _changing_as_the_owner: "admin",
    _calling_on_a_pool: "weft_api",
    _closing_a_pool: "weft_api",
}


@pytest.mark.parametrize("walk", WALKS)
async def test_connection_is_given_up(walk: Walk, own_database: dict[str, str]) -> None:
    async with asyncio.timeout(DEADLINE_S), half_open_wire(own_database[WALKS[walk]]) as wire:
        await walk(wire)


@asynccontextmanager
async def _leading(dsn: str, states: asyncio.Queue[str]) -> AsyncIterator[None]:
    settings = Settings(home=Path("/nowhere"), heartbeat_s=5)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_driver_store(dsn))
        driver = Driver(store, store.notices, settings, Adapters(), on_state=states.put_nowait)
        _task = await stack.enter_async_context(beside(driver.run()))
        yield


async def test_another_driver_leads_though_the_server_keeps_the_lock(
    own_database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is not told that the leader is gone, so its session keeps the lock."""
    monkeypatch.setattr("weft.driver.lead.SILENT_BEATS", 2)
    states, direct = asyncio.Queue[str](), own_database["weft_driver"]
    async with (
        asyncio.timeout(2 * DEADLINE_S),
        half_open_wire(direct) as wire,
        _leading(wire.dsn, states),
    ):
        assert await states.get() == "leader"
        async with _leading(direct, states):
            assert await states.get() == "standby"
            await wire.lose()
            while await states.get() != "leader":
                pass


async def test_lead_is_let_go_when_a_term_ends(own_database: dict[str, str]) -> None:
    """Whatever ends a term: here a driver with a newer epoch, as after a long sleep."""
    states = asyncio.Queue[str]()
    async with (
        asyncio.timeout(DEADLINE_S),
        connected(own_database["admin"]) as admin,
        _leading(own_database["weft_driver"], states),
    ):
        assert await states.get() == "leader"
        before = await _lead_session(admin)
        await admin.execute("UPDATE weft.driver_state SET epoch = epoch + 1")
        while await states.get() != "leader":
            pass
        assert await _lead_session(admin) != before


async def _lead_session(admin: asyncpg.Connection) -> int:
    pid: int = await admin.fetchval(
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND (classid, objid) = (7702, 0)"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return pid
