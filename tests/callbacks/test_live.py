"""The real driver, the real sender and a real database against receivers on this host."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from callbacks.receiver import Received, answering, hang, receiving
from contexts import beside
from store.backend import open_backend
from store.world import Worker, World, open_world
from weft.callbacks import verify
from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.callback_signature import tenant_secret
from weft.driver.adapters import Adapters
from weft.driver.lead import Driver
from weft.driver.loops.deliveries import Post
from weft.plugins.callback_senders.http.sender import HttpCallbackSender
from weft.plugins.callback_senders.http.settings import HttpSettings
from weft.ports.sink import MakeMessage, Sink
from weft.settings import Settings
from weft.store import open_driver_store
from weft.telemetry import metrics
from weft.wire.sealed import SecretKeys

pytestmark = pytest.mark.slow
DEADLINE_S = 60
KEY = "key-of-a-test"
SETTINGS = Settings(
    home=Path("/nowhere"),
    heartbeat_s=3600,
    callback_retry_first_s=0.05,
    callback_retry_longest_s=0.2,
    callback_private_hosts="127.0.0.0/8",
)


@asynccontextmanager
async def driving(
    dsns: Mapping[str, str],
    settings: Settings = SETTINGS,
    *,
    make: MakeMessage | None = None,
    sinks: Sink | None = None,
    keys: Callable[[], SecretKeys] = SecretKeys,
) -> AsyncIterator[None]:
    """Let a driver live; it ends in the middle of whatever it does."""
    timeouts = settings.section(HttpSettings)
    sender = HttpCallbackSender(
        parse_allowed_hosts(settings.callback_private_hosts),
        timeouts.callback_connect_timeout_s,
        timeouts.callback_timeout_s,
    )
    async with open_driver_store(dsns["weft_driver"]) as store:
        driver = Driver(
            store,
            store.notices,
            settings,
            Adapters(Post(sender, KEY, make=make, sinks=sinks, keys=keys)),
            on_state=lambda _: None,
        )
        async with beside(driver.run()):
            yield


@dataclass
class Live:
    """A world whose driver is a real one."""

    world: World
    dsns: Mapping[str, str]
    workers: list[Worker] = field(default_factory=list)

    async def complete(self, url: str | None, *, batch: int | None = None, count: int = 1) -> int:
        """Submit jobs and run them; return their batch."""
        if not self.workers:
            self.workers.append(await self.world.worker())
        if batch is None:
            found = await self.world.submit(count, callback=url)
        else:
            found = await self.world.submit(count, batch=batch)
        while await self.workers[0].run():
            pass
        return found

    async def rows(self, batch: int) -> list[dict[str, Any]]:
        found = await self.world.api.list_callbacks(self.world.caller, batch, after=0, limit=100)
        return [dict(one) for one in found]

    async def until(self, batch: int, state: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until `count` deliveries are in a state; return all."""
        async with asyncio.timeout(DEADLINE_S):
            while True:
                rows = await self.rows(batch)
                if [row["state"] for row in rows].count(state) >= count:
                    return rows

    def document(self, got: Received) -> Mapping[str, Any]:
        """Return what a receiver makes of a request."""
        secret = tenant_secret(KEY, self.world.caller.tenant_id)
        return verify(secret, got.headers, got.body).document


@pytest.fixture
async def live(database: dict[str, str]) -> AsyncIterator[Live]:
    """Give a world in a database of its own; the audit at its end asks for a quiet one."""
    async with open_backend(database) as backend, open_world(backend) as world:
        yield Live(world, database)


async def test_receiver_gets_the_status_document_once_and_genuine(live: Live) -> None:
    async with receiving() as receiver, driving(live.dsns):
        batch = await live.complete(receiver.url, count=3)
        (row,) = await live.until(batch, "delivered")
        (got,) = receiver.received

    document = live.document(got)
    assert (document["id"], document["state"], document["n_succeeded"]) == (batch, "success", 3)
    assert document["completed_at"]
    assert got.headers["weft-delivery"] == row["delivery"]
    assert got.headers["content-type"] == "application/json"
    assert (row["n_attempts"], row["last_status"]) == (1, 200)


async def test_batch_that_grows_is_told_once_per_completion(live: Live) -> None:
    async with receiving() as receiver, driving(live.dsns):
        batch = await live.complete(receiver.url)
        await live.until(batch, "delivered", 1)
        for times in (2, 3):
            await live.complete(None, batch=batch, count=times)
            await live.until(batch, "delivered", times)
        counts = [live.document(got)["n_jobs"] for got in receiver.received]
        names = {got.headers["weft-delivery"] for got in receiver.received}

    assert counts == [1, 3, 6]
    assert len(names) == 3


async def test_failures_are_repeated_under_one_name_until_one_succeeds(live: Live) -> None:
    manners = [answering(500), answering(302, headers="location: /elsewhere\r\n"), answering(204)]
    async with receiving(*manners) as receiver, driving(live.dsns):
        batch = await live.complete(receiver.url)
        (row,) = await live.until(batch, "delivered")
        got = receiver.received

    assert [one.target for one in got] == ["/hook?key=1"] * 3
    assert len({one.headers["weft-delivery"] for one in got}) == 1
    assert len({one.body for one in got}) == 1
    assert (row["n_attempts"], row["last_status"]) == (3, 204)


async def test_closed_port_is_tried_until_somebody_listens(live: Live) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    async with driving(live.dsns):
        batch = await live.complete(f"http://127.0.0.1:{port}/hook")
        async with asyncio.timeout(DEADLINE_S):
            while (await live.rows(batch) or [{"n_attempts": 0}])[0]["n_attempts"] < 2:
                pass
        (before,) = await live.rows(batch)
        async with receiving(port=port) as receiver:
            (after,) = await live.until(batch, "delivered")

        assert before["last_error"] == "could not connect: Connection refused"
        assert (before["state"], before["last_status"]) == ("pending", None)
        assert len(receiver.received) == 1
        assert after["n_attempts"] > 2


async def test_what_is_never_taken_is_given_up(live: Live) -> None:
    settings = _with(callback_attempts_max=3)
    async with receiving(answering(500)) as receiver, driving(live.dsns, settings):
        batch = await live.complete(receiver.url)
        (row,) = await live.until(batch, "given_up")

        assert len(receiver.received) == 3
        assert (row["n_attempts"], row["last_status"], row["next_at"]) == (3, 500, None)


async def test_private_address_is_refused_at_the_call_too(live: Live) -> None:
    """What was submitted under other settings, or through a name."""
    settings = _with(callback_private_hosts="", callback_attempts_max=2)
    async with receiving() as receiver, driving(live.dsns, settings):
        batches = [
            await live.complete(url)
            for url in (receiver.url, f"http://localhost:{receiver.port}/")
        ]
        for batch in batches:
            (row,) = await live.until(batch, "given_up")
            assert "private" in row["last_error"]

        assert receiver.n_open_max == 0


async def test_driver_that_ends_in_the_middle_is_succeeded(live: Live) -> None:
    async with receiving(hang, answering(200)) as receiver:
        async with driving(live.dsns):
            batch = await live.complete(receiver.url)
            await receiver.until(1)
        (between,) = await live.rows(batch)
        async with driving(live.dsns):
            (row,) = await live.until(batch, "delivered")
        first, second = receiver.received

    assert (between["state"], between["n_attempts"]) == ("pending", 0)
    assert first.headers["weft-delivery"] == second.headers["weft-delivery"]
    assert first.body == second.body
    assert row["n_attempts"] == 1


async def test_host_that_hangs_delays_nobody_else(live: Live) -> None:
    settings = _with(callbacks_max=8, callbacks_per_host_max=2)
    async with receiving(hang) as hung, receiving() as quick, driving(live.dsns, settings):
        for _ in range(6):
            await live.complete(hung.url)
        await hung.until(2)
        batch = await live.complete(quick.url)
        await live.until(batch, "delivered")

        assert hung.n_open_max == 2
        assert len(quick.received) == 1


async def test_jobs_go_on_while_receivers_hang(live: Live) -> None:
    async with receiving(hang) as hung, driving(live.dsns):
        await live.complete(hung.url)
        await hung.until(1)
        batch = await live.complete(hung.url, count=50)
        async with asyncio.timeout(DEADLINE_S):
            while not (await live.world.api.get_batch(live.world.caller, batch))["completed_at"]:
                pass


def callback_calls() -> float:
    """Return how often the database was asked about callbacks."""
    return sum(
        sample.value
        for family in metrics.STORE_CALL_SECONDS.collect()
        for sample in family.samples
        if sample.name.endswith("_count")
        and sample.labels["function"] in {"due_callbacks", "next_callback", "record_deliveries"}
    )


async def test_callback_that_waits_for_its_date_costs_no_statement(live: Live) -> None:
    settings = _with(callback_retry_first_s=3600.0, callback_retry_longest_s=3600.0)
    async with receiving(answering(503)) as receiver, driving(live.dsns, settings):
        batch = await live.complete(receiver.url)
        async with asyncio.timeout(DEADLINE_S):
            while (await live.rows(batch) or [{"n_attempts": 0}])[0]["n_attempts"] < 1:
                pass
        before = None
        async with asyncio.timeout(DEADLINE_S):
            while before != callback_calls():
                before = callback_calls()
                await live.world.admin.fetchval("SELECT pg_sleep(0.6)")

        assert len(receiver.received) == 1


def _with(**changes: Any) -> Settings:  # noqa: ANN401 (settings of several types)
    return replace(SETTINGS, **changes)
