"""Drivers on a real database: one leads, the other succeeds, an old one is refused."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from contexts import beside, connected
from kept_sessions import kept_session
from weft.core.errors import EpochStale
from weft.driver.adapters import Adapters
from weft.driver.lead import Driver
from weft.settings import Settings, sql_settings
from weft.store import DriverStore, open_driver_store
from weft.telemetry import metrics

SETTINGS = Settings(home=Path("/nowhere"), heartbeat_s=3600, losses_max=7)
DEADLINE_S = 60


class Member:
    """A driver and the states that it went through."""

    def __init__(self, store: DriverStore) -> None:
        self.store = store
        self.states: list[str] = []
        self.changed = asyncio.Condition()
        self.driver = Driver(store, store.notices, SETTINGS, Adapters(), on_state=self._on_state)
        self._tasks: set[asyncio.Task[None]] = set()

    def _on_state(self, state: str) -> None:
        self.states.append(state)
        task = asyncio.get_running_loop().create_task(self._tell())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tell(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def until(self, state: str, times: int = 1) -> None:
        """Wait until it entered a state so often."""
        async with asyncio.timeout(DEADLINE_S), self.changed:
            await self.changed.wait_for(lambda: self.states.count(state) >= times)


@asynccontextmanager
async def member(dsn: str) -> AsyncIterator[Member]:
    async with open_driver_store(dsn) as store:
        result = Member(store)
        async with beside(result.driver.run()):
            yield result


async def until_true(connection: asyncpg.Connection, question: str) -> None:
    """Ask until the answer is yes."""
    async with asyncio.timeout(DEADLINE_S):
        while not await connection.fetchval(question):
            pass


def calls_but_of_the_timer() -> dict[str, float]:
    """Return how often each function was called, but that which asks when a loop is due."""
    return {
        sample.labels["function"]: sample.value
        for family in metrics.STORE_CALL_SECONDS.collect()
        for sample in family.samples
        if sample.name.endswith("_count") and sample.labels["function"] != "loop_due"
    }


ASLEEP = "SELECT waiting FROM weft.driver_state"


async def test_leader_hands_over_the_settings_that_sql_follows(database: dict[str, str]) -> None:
    async with (
        member(database["weft_driver"]) as leader,
        connected(database["admin"]) as connection,
    ):
        await leader.until("leader")
        stored = await connection.fetchval("SELECT settings::text FROM weft.driver_state")

    assert json.loads(stored) == {name: getattr(SETTINGS, name) for name in sql_settings()}


async def test_one_leads_and_the_other_succeeds_it(database: dict[str, str]) -> None:
    async with member(database["weft_driver"]) as standby_first:
        await standby_first.until("leader")
        async with member(database["weft_driver"]) as second:
            await second.until("standby")
            await standby_first.store.stop_leading()
            second.driver.succeed()
            await second.until("leader")

    assert second.states == ["standby", "leader"]


async def test_idle_driver_runs_no_statement(database: dict[str, str]) -> None:
    async with member(database["weft_driver"]) as only, connected(database["admin"]) as connection:
        await only.until("leader")
        await until_true(connection, ASLEEP)
        async with asyncio.timeout(DEADLINE_S):
            before = None  # the beginning of its listening wakes it once more
            while before != calls_but_of_the_timer():
                before = calls_but_of_the_timer()
                await connection.fetchval("SELECT pg_sleep(0.6)")  # longer than any fold's pause


async def test_standby_holds_no_snapshot_and_no_lock(database: dict[str, str]) -> None:
    """A backend that waits inside an advisory lock holds back the removal of dead rows."""
    async with (
        member(database["weft_driver"]) as first,
        connected(database["admin"]) as connection,
    ):
        await first.until("leader")
        async with member(database["weft_driver"]) as second:
            await second.until("standby")
            await until_true(connection, ASLEEP)
            # The leader's last statement may still be on its way out.
            await until_true(
                connection,
                "SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'weft_driver'"
                " AND datname = current_database()"
                " AND (backend_xmin IS NOT NULL OR state <> 'idle')",
            )
            waiting = await connection.fetchval(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            )

    assert waiting == 0


async def test_old_leader_is_refused(database: dict[str, str]) -> None:
    async with (
        open_driver_store(database["weft_driver"]) as slept,
        open_driver_store(database["weft_driver"]) as newer,
    ):
        old_epoch = await slept.try_lead()
        await slept.stop_leading()
        new_epoch = None
        async with asyncio.timeout(DEADLINE_S):
            while new_epoch is None:
                new_epoch = await newer.try_lead()
        assert old_epoch is not None

        assert new_epoch > old_epoch
        with pytest.raises(EpochStale):
            await slept.fold_deltas(old_epoch)
        assert (await newer.fold_deltas(new_epoch)).deltas == 0


async def test_next_term_waits_for_what_the_old_one_has_begun(database: dict[str, str]) -> None:
    async with open_driver_store(database["weft_driver"]) as old:
        epoch = await old.try_lead()
        await old.stop_leading()
        async with kept_session(database["admin"]) as one, kept_session(database["admin"]) as two:
            await two.execute("SET lock_timeout = '200ms'")
            async with one.transaction():
                await one.execute("SELECT weft._check_epoch($1)", epoch)
                with pytest.raises(asyncpg.LockNotAvailableError):
                    await two.fetchval("SELECT weft.begin_term()")


async def test_leader_whose_sessions_are_ended_leads_again(database: dict[str, str]) -> None:
    async with member(database["weft_driver"]) as only, connected(database["admin"]) as connection:
        await only.until("leader")
        await until_true(connection, ASLEEP)
        await connection.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE usename = 'weft_driver' AND datname = current_database()"
        )
        await only.until("leader", times=2)

    assert set(only.states) == {"leader"}
