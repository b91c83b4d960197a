"""Events: in order, none twice, none left out, however late a writer commits."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from builders import job_rows, tree
from store.world import Worker, World
from weft.core import errors
from weft.core.states import Reason

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
