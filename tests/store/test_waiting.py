"""Nobody polls: who goes to sleep is woken, and stays awake for what is there already."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import asyncpg
import pytest

from builders import job_rows
from store.world import Worker, World
from weft.core.states import Reason
from weft.store.database import call_on

SOON_S = 10


class Ear:
    """A connection that hears notices."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        self._heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()

    async def listen(self, *channels: str) -> None:
        for channel in channels:
            await self._connection.add_listener(
                channel, lambda _c, _pid, name, text: self._heard.put_nowait((name, text))
            )

    async def hears(self) -> tuple[str, str]:
        """Return the next notice."""
        async with asyncio.timeout(SOON_S):
            return await self._heard.get()

    async def until(self, text: str) -> None:
        """Wait for this notice, whatever comes before."""
        while (await self.hears())[1] != text:
            pass

    async def heard_nothing(self) -> bool:
        """Say whether nothing has come; notices arrive before the answer to a later question."""
        await self._connection.execute("SELECT")
        return self._heard.empty()


async def ear(world: World, *channels: str) -> Ear:
    result = Ear(await world.connect())
    await result.listen(*channels)
    return result


async def pool_of(world: World) -> str:
    return str(
        await world.admin.fetchval("SELECT pool_id FROM weft.pool WHERE name = $1", world.pool)
    )


async def test_worker_is_woken_by_a_commit(world: World, worker: Worker) -> None:
    listener = await ear(world, "work")
    before = await worker.waits()
    await world.submit()

    assert before
    assert await listener.hears() == ("work", await pool_of(world))
    assert not await worker.waits()


async def test_sleeper_is_given_little_work_by_its_submission(world: World) -> None:
    worker, other = await world.worker("w"), await world.worker("other")
    await worker.waits(takes=True)
    listener = await ear(world, "work")
    batch = await world.submit(2)
    notice, claims = await listener.hears(), await other.claim()
    await worker.beat()  # which has not heard of it yet
    given = await worker.given()
    verdicts = await worker.start(*given)
    await worker.beat(*given)

    assert (notice, claims) == (("work", f"{await pool_of(world)}:={worker.id}"), [])
    assert [one.job_id for one in given] == [1, 2]
    assert given[0].chunk is not None
    assert verdicts == ["ok", "ok"]
    assert await worker.given() == []
    assert await worker.end(*given) == ["ok", "ok"]
    assert await world.states(batch) == "ss"


@pytest.mark.parametrize(
    "why", ["takes none", "busy", "cordoned", "draining", "much work", "much held", "silent"]
)
async def test_sleeper_is_given_nothing(world: World, why: str) -> None:
    worker = await world.worker()
    if why == "busy":
        await world.submit()
    held = await worker.claim()
    await worker.waits(takes=why != "takes none")
    if why == "cordoned":
        await world.call("cordon_worker", of_name="w", of_pool=world.pool, actor="ann", reason="")
    await worker.beat(*held, draining=why == "draining")
    for _ in range(65 if why == "much held" else 0):
        await world.api.hold_group(world.caller, await world.submit(5), 0)
    if why == "silent":
        await world.age("worker_incarnation", "heartbeat_at", by_s=16, incarnation_id=worker.id)
    await world.submit(5 if why == "much work" else 1)

    assert await worker.given() == []


async def test_what_was_given_in_vain_comes_back(world: World) -> None:
    """The worker lists nothing for five seconds: it has not heard of it."""
    worker = await world.worker()
    await worker.waits(takes=True)
    batch = await world.submit()
    await world.admin.execute(
        "UPDATE weft.job SET claimed_at = claimed_at - interval '6 s' WHERE batch_id = $1", batch
    )
    await worker.beat()

    assert await worker.given() == []
    assert [one.attempt for one in await worker.claim()] == [2]


async def test_what_was_given_is_given_once(world: World) -> None:
    """The agent's successor holds it already; and its next attempt is claimed, not given."""
    worker = await world.worker()
    await worker.waits(takes=True)
    await world.submit()
    successor = await world.worker(incarnation=worker.facts["incarnation"])
    given = await successor.given()
    await worker.end(*successor.registered.live, reason=Reason.PREEMPTED)

    assert [one.attempt for one in await worker.claim()] == [2]
    assert (given, await worker.given()) == ([], [])


async def test_worker_that_woke_in_vain_waits_for_nobody(world: World) -> None:
    """It says that it waits all the time, so whoever announces sees that; others have to ask."""
    worker, other = await world.worker("w"), await world.worker("other")
    assert await worker.waits()
    async with world.transaction("weft_api") as announcing:
        await announcing.execute("SELECT pg_advisory_xact_lock_shared(7701, 0)")
        async with asyncio.timeout(SOON_S):
            assert await worker.waits()
        asking = await world.start_waiting(other.waits())
    assert await asking
    await worker.claim()
    listener = await ear(world, "work")
    await world.submit()

    assert await listener.hears() == ("work", await pool_of(world))


async def test_one_notice_a_statement_and_none_for_a_busy_worker(world: World) -> None:
    worker = await world.worker()
    listener = await ear(world, "work")
    await world.submit(3)
    quiet = await listener.heard_nothing()
    await worker.claim()
    await worker.waits()
    await world.submit(5)
    await listener.hears()

    assert quiet
    assert await listener.heard_nothing()


async def test_work_that_is_committed_while_a_worker_goes_to_sleep(world: World) -> None:
    """The sleeper waits for the transaction that has announced, and then sees its work."""
    worker = await world.worker()
    rows = job_rows(2, parents={2: [1]})
    batch = await world.submit(rows)
    claimed = await worker.claim()
    other = await world.worker("other")
    async with world.ending(worker, *claimed):
        going = await world.start_waiting(other.waits())

    assert not await going
    assert await other.run() == [2]
    assert await world.states(batch) == "ss"


async def test_work_that_begins_after_a_worker_went_to_sleep(world: World, worker: Worker) -> None:
    """The sleeper has not committed yet: who announces waits for it, then sees it sleep."""
    listener = await ear(world, "work")
    async with world.transaction("weft_worker") as connection:
        waits = not await connection.fetchval("SELECT weft.wait_for_work($1)", worker.id)
        submitting = await world.start_waiting(world.submit())
    await submitting

    assert waits
    assert await listener.hears() == ("work", await pool_of(world))


@pytest.mark.parametrize("reason", [Reason.PREEMPTED, Reason.EXIT])
async def test_worker_is_woken_by_what_is_ready_again(world: World, reason: Reason) -> None:
    await world.submit(job_rows(max_attempts=2, retry_on=[Reason.EXIT]))
    worker, other = await world.worker("w"), await world.worker("x")
    claimed = await worker.claim()
    listener = await ear(world, "work")
    before = await other.waits()
    await worker.end(*claimed, reason=reason)

    assert before
    assert (await listener.hears())[0] == "work"


async def test_worker_is_woken_by_a_leaving_one(world: World) -> None:
    await world.submit()
    worker, other = await world.worker("w"), await world.worker("x")
    await worker.claim()
    await other.waits()
    listener = await ear(world, "work")
    await worker.store.leave(worker.id)

    assert (await listener.hears())[0] == "work"


async def test_worker_is_woken_when_a_batch_is_below_max_running_again(world: World) -> None:
    """The one that ran its last job may not come again."""
    await world.submit(2, max_running=1)
    worker, other = await world.worker("w"), await world.worker("x")
    claimed = await worker.claim()
    listener = await ear(world, "work")
    before = await other.waits()
    await worker.end(*claimed)

    assert before
    assert await listener.hears() == ("work", await pool_of(world))


async def test_driver_goes_to_sleep_and_is_woken(own_world: World) -> None:
    epoch = await own_world.lead()
    listener = await ear(own_world, "driver")
    batch, worker = await own_world.submit_to_worker()
    quiet = await listener.heard_nothing()
    busy = await own_world.driver.idle_driver(epoch)
    await own_world.fold()
    idle = await own_world.driver.idle_driver(epoch)

    async def wakes(act: Callable[[], Awaitable[object]]) -> bool:
        await act()
        heard = await listener.hears() == ("driver", "")
        still_busy = not await own_world.driver.idle_driver(epoch)
        await own_world.fold()
        await own_world.sweep()
        await own_world.fold()
        return heard and still_busy and await own_world.driver.idle_driver(epoch)

    assert (quiet, busy, idle) == (True, False, True)
    assert await wakes(worker.claim)
    assert await wakes(lambda: own_world.api.cancel_group(own_world.caller, batch, 0, force=False))
    assert await wakes(lambda: worker.store.leave(worker.id))
    assert await wakes(own_world.submit)
    assert await listener.heard_nothing()


async def test_driver_does_not_sleep_beside_an_open_writer(own_world: World) -> None:
    epoch = await own_world.lead()
    await own_world.submit()
    worker = await own_world.worker()
    await own_world.fold()
    async with own_world.claiming(worker, 5):
        during = await own_world.driver.idle_driver(epoch)
    after = await own_world.driver.idle_driver(epoch)

    assert (during, after) == (False, False)
    await own_world.fold()
    assert await own_world.driver.idle_driver(epoch)


async def test_writer_that_begins_while_the_driver_goes_to_sleep_wakes_it(
    own_world: World,
) -> None:
    listener = await ear(own_world, "driver")
    await own_world.submit()
    worker = await own_world.worker()
    epoch = await own_world.lead()
    await own_world.fold()
    async with own_world.during("weft_driver", "idle_driver", epoch=epoch) as (row,):
        claiming = await own_world.start_waiting(worker.claim())
    await claiming

    assert row[0]
    assert await listener.hears() == ("driver", "")


async def test_calls_of_one_driver_do_not_wait_for_each_other(own_world: World) -> None:
    """A long sweep does not hold up a fold that wakes the driver."""
    epoch = await own_world.lead()
    assert await own_world.driver.idle_driver(epoch)
    async with own_world.during("weft_driver", "sweep_cancelled", epoch=epoch, limit_jobs=10):
        async with asyncio.timeout(SOON_S):
            await own_world.fold()


async def test_listener_for_events_is_woken(own_world: World) -> None:
    listener = await ear(own_world, "events")
    await own_world.submit()
    quiet = await listener.heard_nothing()
    await own_world.api.wait_for_events()
    await own_world.submit()
    heard = await listener.hears()
    await own_world.api.wait_for_events(waits=False)
    await own_world.submit()

    assert (quiet, heard) == (True, ("events", ""))
    assert await listener.heard_nothing()


async def test_listener_that_comes_while_a_writer_is_open_sees_its_event(own_world: World) -> None:
    await own_world.submit()
    worker = await own_world.worker()
    after = await own_world.api.events_now()
    async with own_world.claiming(worker, 5):
        waiting = await own_world.start_waiting(own_world.api.wait_for_events())
    withheld = await waiting
    events, _position = await own_world.api.list_events(
        own_world.caller, after=after, batch_id=None, limit=9
    )

    assert not withheld
    assert [event["kind"] for event in events] == ["jobs.running"]


async def test_listener_is_told_of_events_that_are_withheld(own_world: World) -> None:
    """An older writer without announcements is open: nobody tells when it ends, so look again."""
    batch = await own_world.submit()
    async with own_world.transaction("admin") as connection:
        await connection.fetchval("SELECT pg_current_xact_id()")
        await own_world.submit(batch=batch)
        withheld = await own_world.api.wait_for_events()

    assert withheld
    assert not await own_world.api.wait_for_events()


async def test_sleep_and_heartbeat_of_a_worker_lock_its_row_first(world: World) -> None:
    """A sleeper that held the announcements meanwhile would be waited for, and wait itself."""
    worker = await world.worker()
    sleeper = await world.connect("weft_worker")
    async with world.transaction("admin") as beating:
        await call_on(
            beating,
            "heartbeat",
            incarnation_id=worker.id,
            batch_ids=[],
            job_ids=[],
            attempts=[],
            draining=False,
        )
        sleeping = await world.start_waiting(
            call_on(sleeper, "wait_for_work", incarnation_id=worker.id)
        )
        await call_on(beating, "_announce")
    ((has_work,),) = await sleeping

    assert not has_work


async def test_uncordon_and_sleep_of_a_worker_do_not_wait_for_each_other(world: World) -> None:
    worker = await world.worker()
    sleeper = await world.connect("weft_worker")
    name = {"of_name": "w", "of_pool": world.pool, "actor": "ann"}
    await world.call("cordon_worker", **name, reason="")
    async with world.transaction("admin") as uncordoning:
        await uncordoning.execute(
            "SELECT FROM weft.worker_incarnation WHERE incarnation_id = $1 FOR UPDATE", worker.id
        )
        sleeping = await world.start_waiting(
            call_on(sleeper, "wait_for_work", incarnation_id=worker.id)
        )
        await call_on(uncordoning, "uncordon_worker", **name)
    ((has_work,),) = await sleeping

    assert not has_work


async def test_driver_that_goes_to_sleep_does_not_wait_for_a_fold(own_world: World) -> None:
    """A fold that woke the driver announces later, and would wait for who goes to sleep."""
    epoch = await own_world.lead()
    await own_world.fold()
    asleep = await own_world.call("idle_driver", epoch=epoch)
    async with own_world.during("admin", "fold_deltas", epoch=epoch):
        async with asyncio.timeout(SOON_S):
            asleep += await own_world.call("idle_driver", epoch=epoch)

    assert [row["idle_driver"] for row in asleep] == [True, False]


async def test_one_transaction_wakes_the_driver_for_all(own_world: World) -> None:
    """Commits with notices wait for each other, so others leave it to the first."""
    listener, worker, epoch = await beside_a_sleeping_driver(own_world)
    async with own_world.claiming(worker, 5):
        await own_world.submit()
        quiet = await listener.heard_nothing()
        beat = await own_world.driver.beat(epoch, SOON_S)
        await own_world.fold()  # it does not wait, whoever holds the row
    heard = await listener.hears()

    assert quiet
    assert not beat.idle
    assert heard == ("driver", "")
    assert await listener.heard_nothing()


async def test_driver_whose_waker_is_rolled_back_finds_the_work_itself(own_world: World) -> None:
    listener, worker, epoch = await beside_a_sleeping_driver(own_world)
    with suppress(InterruptedError):
        async with own_world.claiming(worker, 5):
            await own_world.submit()
            raise InterruptedError
    quiet = await listener.heard_nothing()
    beat = await own_world.driver.beat(epoch, SOON_S)
    await own_world.submit()

    assert quiet
    assert not beat.idle
    assert await listener.hears() == ("driver", "")


async def beside_a_sleeping_driver(world: World) -> tuple[Ear, Worker, int]:
    """Return who hears what wakes it, a worker that has something to claim, and its term."""
    epoch = await world.lead()
    listener = await ear(world, "driver")
    await world.submit()
    worker = await world.worker()
    await world.fold()
    assert await world.driver.idle_driver(epoch)
    return listener, worker, epoch
