"""Events, their subscriptions and notices: in order, none twice, and none missed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import asyncpg
import pytest

from builders import job_rows, tree
from store.site import Site
from store.world import Worker, World
from weft.core import errors
from weft.core.errors import StoreUnavailable
from weft.core.states import Reason
from weft.ports.store import UNKEYED, DeliveryReport, DueCallback
from weft.store import notices
from weft.store.notices import Notice, PostgresNotices

Position = tuple[int, int]


async def read(
    world: World, after: Position, limit: int = 100, batch: int | None = None
) -> tuple[Sequence[Any], Position]:
    return await world.api.list_events(world.caller, after=after, batch_id=batch, limit=limit)


async def test_life_of_a_batch_in_events(world: World) -> None:
    after = await world.api.events_now()
    groups = tree("a")
    batch, worker, (one, two, four) = await world.submit_and_claim(
        job_rows(4, parents={3: [1]}, group=[0, 0, 0, 1]), groups=groups
    )
    await worker.start(one)
    await worker.end(one, two)
    await worker.end(four, reason=Reason.EXIT)
    await worker.claim()
    await world.cancel(batch)
    await worker.store.leave(worker.id)
    await world.sweep()
    await world.fold()
    events, position = await read(world, after)
    short = [(event["kind"], sorted(event["jobs"] or event["groups"])) for event in events]

    assert short == [
        ("update.committed", []),
        ("jobs.running", [1, 2, 4]),
        ("jobs.success", [1, 2]),
        ("jobs.ready", [3]),
        ("jobs.failed", [4]),
        ("jobs.running", [3]),
        ("batch.cancelled", [0]),
        ("jobs.ready", [3]),
        ("jobs.cancelled", [3]),
        ("group.complete", [1]),
        ("batch.complete", [0]),
    ] or short[-2:] == [("batch.complete", [0]), ("group.complete", [1])]
    assert all(event["batch_id"] == batch for event in events)
    assert (events[1]["from_state"], events[1]["to_state"]) == (1, 4)
    assert [(event["xid"], event["event_id"]) for event in events] == sorted(
        (event["xid"], event["event_id"]) for event in events
    )
    assert await read(world, position) == ([], position)


async def test_event_of_a_late_commit_comes_in_its_place(world: World, worker: Worker) -> None:
    """Nothing younger than an open writer is shown, so nobody reads past what it will commit."""
    batch = await world.submit(4)
    after = await world.api.events_now()
    async with world.claiming(worker, 1):
        await worker.claim(1)
        during, position = await read(world, after)
    late, _position = await read(world, position)

    assert (during, position) == ([], after)
    assert [event["jobs"] for event in late] == [[1], [2]]
    assert {event["batch_id"] for event in late} == {batch}


async def test_readers_beside_writers_miss_nothing(world: World) -> None:
    """Three writers, one reader; what it read equals what was written, in one order."""
    batch = await world.submit(60)
    workers = [await world.worker(f"w{n}") for n in range(3)]
    start = position = await world.api.events_now()
    finished = asyncio.Event()
    read_along: list[Any] = []

    async def drain(worker) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        while await worker.run(4):
            pass

    async def write() -> None:
        await asyncio.gather(*[drain(worker) for worker in workers])
        finished.set()

    async def follow() -> None:
        nonlocal position
        while True:
            last = finished.is_set()
            part, position = await read(world, position, 3)
            read_along.extend(part)
            if last and not part:
                return

    await asyncio.gather(write(), follow())
    whole, _end = await read(world, start, 1000)
    ended = [job for event in whole if event["kind"] == "jobs.success" for job in event["jobs"]]

    assert read_along == whole
    assert sorted(ended) == list(range(1, 61))
    assert await world.counts(batch) == {"succeeded": 60}


async def test_removed_events_are_said_to_be_gone(own_world: World) -> None:
    start = await own_world.api.events_now()
    await own_world.submit(1)
    await own_world.submit(1)
    events, end = await read(own_world, start)
    epoch = await own_world.lead()
    keep = {"updates_keep_s": 1e6}
    await own_world.driver.remove_old(epoch, events_keep_s=1e6, **keep)
    kept = await read(own_world, start)
    await own_world.driver.remove_old(epoch, events_keep_s=0, **keep)

    assert len(kept[0]) == len(events) == 2
    with pytest.raises(errors.EventsGone):
        await read(own_world, start)
    # A reader that has read the last event has missed nothing.
    assert await read(own_world, end) == ([], end)
    await own_world.submit(1)
    assert len((await read(own_world, end))[0]) == 1
    assert await read(own_world, await own_world.api.events_now()) is not None


async def test_only_old_events_are_removed(own_world: World) -> None:
    start = await own_world.api.events_now()
    for _ in range(3):
        await own_world.submit(1)
    events, _end = await read(own_world, start)
    places = [(event["xid"], event["event_id"]) for event in events]
    await own_world.admin.execute(
        "UPDATE weft.event SET at = at - interval '1 hour' WHERE xid::text::bigint < $1",
        places[2][0],
    )
    await own_world.driver.remove_old(
        await own_world.lead(), events_keep_s=1800, updates_keep_s=1e6
    )

    with pytest.raises(errors.EventsGone):
        await read(own_world, places[0])
    left, _end = await read(own_world, places[1])
    assert [(event["xid"], event["event_id"]) for event in left] == places[2:]


URL: Final = "https://receiver.example/told"

LIMITS: Final = {"limit_all": 9, "limit_tenant": 9, "limit_host": 9}


def subscription(name: str, *, persistent: bool = True) -> dict[str, Any]:
    """Return one to an event of the door `d`."""
    return {"name": name, "url": URL, "event": "A", "persistent": persistent, "policy": {}}


async def notified(site: Site, *batches: int) -> list[dict[str, Any]]:
    """Look at all events until now; return the subscriptions of jobs that they are about."""
    driver, epoch, found = site.driver, await site.lead(), []
    while (page := await driver.list_notified(epoch, after_batch=None, limit=50)) is not None:
        for job in page.jobs:
            if job["told"]["batch_id"] in batches:
                found += job["subscriptions"]
        await driver.record_notices(epoch, [], page.xid, page.event_id)
        if not page.behind:
            break
    return found


async def record(site: Site, *notices: tuple[int, str]) -> list[DueCallback]:
    """Record notices, those of a subscription in order; return what is due of them."""
    epoch = await site.lead()
    rows = [
        {"subscription_id": of, "event_key": key, "url": URL, "body": "{}"} for of, key in notices
    ]
    await site.driver.record_notices(epoch, rows, 0, 0)
    return await due_notices(site)


async def due_notices(site: Site) -> list[DueCallback]:
    """Return the notices that are due."""
    found = await site.driver.due_callbacks(await site.lead(), [], **LIMITS)
    return [one for one in found if one.url == URL]


async def record_attempt(site: Site, one: DueCallback, *, delivered: bool) -> None:
    """Record an attempt; one that failed is tried again in an hour."""
    report = DeliveryReport(
        delivery_id=one.delivery_id,
        delivered=delivered,
        status=200 if delivered else 500,
        error=None,
        retry_in_s=None if delivered else 3600,
    )
    await site.driver.record_deliveries(await site.lead(), [report])


async def remove_batches(site: Site, *batches: int) -> None:
    """Delete batches: persistent subscriptions stay open and work of the driver until then."""
    for batch in batches:
        operation = await site.api.delete_batch(site.caller, batch, UNKEYED)
        await site.ended(operation)


async def test_events_lead_to_jobs_with_open_subscriptions(site: Site) -> None:
    """Each event once; jobs without subscriptions never."""
    kept: dict[str, Any] = {"foreign_document": {"name": "n"}, "door": "d"}
    batch = await site.submit(1, foreign_id="a", subscriptions=[subscription("s")], **kept)
    other = await site.submit(1, foreign_id="b", **kept)
    (found,) = await notified(site, batch, other)
    assert (found["url"], found["event"], found["keys"]) == (URL, "A", [])
    assert await notified(site, batch, other) == []
    await site.run()
    assert [one["id"] for one in await notified(site, batch, other)][:1] == [found["id"]]
    await remove_batches(site, batch, other)


async def test_notices_are_recorded_once_and_sent_in_order(site: Site) -> None:
    """One that failed does not hold up those after it; a subscription that is told once ends
    with a delivery, and not before.
    """
    both = [subscription("always"), subscription("once", persistent=False)]
    kept: dict[str, Any] = {"foreign_document": {"name": "n"}, "door": "d"}
    batch = await site.submit(1, foreign_id="c", subscriptions=both, **kept)
    always, once = [one["id"] for one in await notified(site, batch)][:2]
    events = [(of, key) for of in (always, once) for key in ("A.1", "B.1")]
    assert len(await record(site, *events)) == len(both)
    first = {
        one.subscription["name"]: one for one in await record(site, *events) if one.subscription
    }
    assert set(first) == {"always", "once"}
    for one in first.values():
        await record_attempt(site, one, delivered=False)
    (later,) = await record(site, *events)
    assert later.subscription is not None
    assert later.subscription["name"] == "always"
    await record_attempt(site, first["once"], delivered=True)
    await record_attempt(site, later, delivered=True)
    assert await record(site, (once, "C.1")) == []
    rows = await site.api.list_callbacks(site.caller, batch, after=0, limit=9)
    assert [(one["event"], one["state"]) for one in rows] == [
        ("A.1", "pending"),
        ("B.1", "delivered"),
        ("A.1", "delivered"),
    ]
    await remove_batches(site, batch)


BURST = "SELECT pg_notify('callers', n::text) FROM generate_series(1, 100) n"
LISTENING = "FROM pg_stat_activity WHERE usename = 'weft_driver' AND query LIKE 'LISTEN%'"


async def _until_it_ends(listening: AsyncIterator[Notice]) -> None:
    async with asyncio.timeout(60):
        with pytest.raises(StoreUnavailable):
            async for _ in listening:
                pass


async def test_listening_ends_when_more_is_told_than_is_kept(
    database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a notice that was dropped said is found when all is looked at again; so is what the end
    of the connection hid. Others that listen in this process are not disturbed.
    """
    shared = PostgresNotices(database["weft_driver"])
    admin = await asyncpg.connect(database["admin"])
    other, both = shared.listen("queues"), shared.listen("queues", "callers")
    monkeypatch.setattr(notices, "QUEUE_MAX", 1)
    listening = shared.listen("callers")
    first = [await anext(one) for one in (other, both, listening)]
    assert await admin.fetchval(f"SELECT count(*) {LISTENING}") == 1
    await admin.execute(BURST)
    await _until_it_ends(listening)
    await both.aclose()
    await admin.execute("SELECT pg_notify('callers', ''), pg_notify('queues', '3')")
    heard = await anext(other)
    await admin.execute(f"SELECT pg_terminate_backend(pid) {LISTENING}")
    await _until_it_ends(other)
    again = shared.listen("callers")
    first.append(await anext(again))
    await admin.execute(BURST.replace("100", "1"))

    assert first == [("", "")] * 4
    assert heard == ("queues", "3")
    assert await anext(again) == ("callers", "1")
    await again.aclose()
    await admin.close()
