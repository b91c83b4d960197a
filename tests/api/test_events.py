"""Streams of events: no gap and no repeat, whatever is restarted in between."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import httpx
import pytest
from httpx import AsyncClient

from api.live import (
    DEADLINE_S,
    Dsns,
    EventReader,
    LiveApi,
    LiveWorker,
    fold,
    make_user,
    remove_events,
    submit,
)
from contexts import beside, connected
from weft.api import feeds
from weft.telemetry import metrics


@contextlib.asynccontextmanager
async def events(http: AsyncClient, query: str = "", **headers: str) -> AsyncIterator[EventReader]:
    async with http.stream("GET", f"/v1/events{query}", headers=headers) as answer:
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield EventReader(answer)


async def until(reader: EventReader, kind: str, batch_id: int) -> list[dict[str, Any]]:
    """Return the events up to one of this kind."""
    found = []
    while True:
        found.append(await reader.event())
        if found[-1]["kind"] == kind and found[-1]["batch_id"] == batch_id:
            return found


def calls_of(function: str) -> float:
    labels = {"function": function}
    return metrics.REGISTRY.get_sample_value("weft_store_call_seconds_count", labels) or 0


async def becomes(admin: asyncpg.Connection, condition: str, *, wanted: bool = True) -> None:
    """Wait until there is (no) listener of this kind."""
    query = f"SELECT EXISTS (SELECT FROM weft.event_listener WHERE {condition})"  # noqa: S608
    async with asyncio.timeout(DEADLINE_S):
        while await admin.fetchval(query) is not wanted:
            await admin.fetchval("SELECT pg_sleep(0.01)")


async def test_life_of_a_batch_is_told_in_order(
    http: AsyncClient, worker: LiveWorker, database: Dsns
) -> None:
    async with events(http) as reader:
        batch_id = await submit(http, jobs=[{}] * 2)
        await worker.work()
        await fold(database["weft_driver"])
        told = await until(reader, "batch.complete", batch_id)

    kinds = [event["kind"] for event in told]
    assert kinds[0] == "update.committed"
    assert kinds.index("jobs.running") < kinds.index("jobs.success")
    success = next(event for event in told if event["kind"] == "jobs.success")
    assert (success["from"], success["to"], sorted(success["jobs"])) == (
        "running",
        "success",
        [1, 2],
    )
    assert set(success) == {
        "id",
        "at",
        "kind",
        "batch_id",
        "from",
        "to",
        "jobs",
        "groups",
        "trace_id",
        "detail",
    }


async def test_stream_of_one_batch_tells_of_no_other(http: AsyncClient) -> None:
    mine = await submit(http)
    async with events(http, f"?batch=b{mine}") as reader:
        await submit(http)
        await http.post(f"/v1/batches/{mine}/cancel", json={})
        told = await until(reader, "batch.cancelled", mine)

    assert {event["batch_id"] for event in told} == {mine}


async def test_stream_of_a_quiet_batch_is_kept_alive_while_another_is_busy(
    http: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.api.use_cases.watch.QUIET_S", 0.5)
    mine = await submit(http)

    async def keep_busy() -> None:
        while True:
            await submit(http)

    async with events(http, f"?batch=b{mine}") as reader, beside(keep_busy()):
        await reader.until_kept_alive()


async def test_stream_goes_on_after_the_last_id(http: AsyncClient) -> None:
    async with events(http) as reader:
        first, second, third = [await submit(http) for _ in range(3)]
        told = await until(reader, "update.committed", third)
    ids = [event["id"] for event in told]

    async with events(http, **{"last-event-id": ids[0]}) as reader:
        again = await until(reader, "update.committed", third)
    async with events(http, f"?since={ids[1]}") as reader:
        since = await until(reader, "update.committed", third)

    assert [event["batch_id"] for event in told] == [first, second, third]
    assert [event["id"] for event in again] == ids[1:]
    assert [event["id"] for event in since] == ids[2:]


@pytest.mark.slow
async def test_no_gap_and_no_repeat_across_restarts_of_the_api(api: LiveApi) -> None:
    n_batches = 40
    created: list[int] = []

    async def produce() -> None:
        async with api.client() as http:
            while len(created) < n_batches:
                with contextlib.suppress(httpx.TransportError):
                    headers = {"idempotency-key": f"k{len(created)}"}
                    answer = await http.post("/v1/batches", json={"jobs": [{}]}, headers=headers)
                    created.append(answer.json()["id"])

    async def consume() -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = []
        headers = {"last-event-id": "0-0"}
        async with api.client() as http:
            while len({event["batch_id"] for event in told}) < n_batches:
                with contextlib.suppress(httpx.TransportError, StopAsyncIteration):
                    async with events(http, **headers) as reader:
                        while len({event["batch_id"] for event in told}) < n_batches:
                            told.append(await reader.event())
                            headers["last-event-id"] = told[-1]["id"]
        return told

    async with asyncio.timeout(60):
        consumer = asyncio.create_task(consume())
        producer = asyncio.create_task(produce())
        for stop_at in (10, 20, 30):
            while len(created) < stop_at:
                await asyncio.wait({producer}, timeout=0.01)
            await api.stop()
            assert api.stop_s < 5  # at once, on a machine of its own
            await api.start()
        await producer
        told = await consumer

    assert [event["batch_id"] for event in told] == sorted(created)
    ids = [tuple(map(int, event["id"].split("-"))) for event in told]
    assert ids == sorted(set(ids))


async def test_event_behind_an_open_writer_comes_when_that_ends(
    http: AsyncClient, admin: asyncpg.Connection
) -> None:
    """The open transaction writes no event, so nobody tells when it is over."""
    async with events(http) as reader:
        transaction = admin.transaction()
        await transaction.start()
        await admin.execute("SELECT pg_current_xact_id()")
        batch_id = await submit(http)
        coming = asyncio.create_task(reader.event())
        done, _ = await asyncio.wait({coming}, timeout=0.3)
        assert not done
        await transaction.commit()
        async with asyncio.timeout(DEADLINE_S):
            event = await coming

    assert event["batch_id"] == batch_id


async def test_stream_goes_on_when_its_connections_are_lost(
    http: AsyncClient, admin: asyncpg.Connection
) -> None:
    async with events(http) as reader:
        before = await submit(http)
        told = await until(reader, "update.committed", before)
        await admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE usename = 'weft_api' AND datname = current_database()"
        )
        after = None
        while after is None:
            answer = await http.post("/v1/batches", json={"jobs": [{}]})
            after = answer.json().get("id")
        told += await until(reader, "update.committed", after)

    batches = [event["batch_id"] for event in told]
    assert batches == sorted(set(batches))
    assert batches[0] == before
    assert batches[-1] == after


async def test_events_that_were_removed_are_gone(
    http: AsyncClient, admin: asyncpg.Connection
) -> None:
    await admin.execute("UPDATE weft.event_floor SET xid = '1000000000', event_id = 5")

    answer = await http.get("/v1/events?since=3-1")

    assert (answer.status_code, answer.json()["code"]) == (410, "API.EVENTS_GONE")


async def test_nobody_listens_when_no_stream_is_open(http: AsyncClient, database: Dsns) -> None:
    async with connected(database["admin"]) as admin:
        await becomes(admin, "waiting", wanted=False)
        async with events(http) as reader:
            await submit(http)
            await reader.event()
            await becomes(admin, "waiting")
        await becomes(admin, "waiting", wanted=False)


async def test_resumed_stream_to_which_nothing_happened_asks_nothing(
    http: AsyncClient, database: Dsns
) -> None:
    async with events(http) as reader:
        await submit(http)
        last = await reader.event()
    async with connected(database["admin"]) as admin:
        await becomes(admin, "waiting", wanted=False)
        async with events(http, **{"last-event-id": last["id"]}):
            await becomes(admin, "waiting")
            before = calls_of("list_events")
            await admin.fetchval("SELECT pg_sleep(0.3)")

            assert calls_of("list_events") - before < 5


async def test_listener_that_sleeps_for_days_is_not_forgotten(
    http: AsyncClient, database: Dsns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "REGISTER_AGAIN_S", 0.05)
    async with connected(database["admin"]) as admin, events(http) as reader:
        await becomes(admin, "waiting")
        await admin.execute("UPDATE weft.event_listener SET seen_at = seen_at - interval '2 days'")
        await becomes(admin, "waiting AND seen_at > now() - interval '1 hour'")
        await remove_events(database["weft_driver"])
        batch_id = await submit(http)

        assert (await reader.event())["batch_id"] == batch_id


async def test_stream_of_a_quiet_user_survives_that_the_events_of_others_are_removed(
    api: LiveApi, http: AsyncClient, database: Dsns
) -> None:
    await make_user(database["admin"], tenant="other", token="token-of-another")
    async with (
        connected(database["admin"]) as admin,
        api.client(authorization="Bearer token-of-another") as other,
        events(other) as others,
        events(http) as reader,
    ):
        await becomes(admin, "waiting")
        await submit(other)
        await others.event()
        await becomes(admin, "waiting")
        await remove_events(database["weft_driver"])
        batch_id = await submit(http)

        assert (await reader.event())["batch_id"] == batch_id
