"""Running jobs that make room for jobs of queues of higher priority."""

import msgspec
import pytest

from builders import job_rows, with_fields
from store.barriers import visit
from store.test_queue_limits import rows_of, save
from store.world import Worker, World
from weft.core.scheduling.preemption import Host
from weft.core.states import Reason
from weft.ports.store import Claimed

LATER_S = 3600.0


async def preempted(world: World, *, wait_s: float) -> tuple[Worker, Claimed, int]:
    """Return a worker, its attempt that is being stopped, and the batch for which it is."""
    await save(world)
    _, worker, (one,) = await world.submit_and_start(
        with_fields(job_rows(1), j1={"preemptible": True})
    )
    high = await world.submit(rows_of(world, 1))
    stopped = [(one.batch_id, one.job_id, one.attempt)]
    epoch = await world.lead()
    assert await world.driver.preempt_jobs(epoch, (high, 1), stopped, wait_s=wait_s) == 1
    return worker, one, high


async def test_it_runs_again_after_its_date(world: World) -> None:
    worker, one, high = await preempted(world, wait_s=0)
    assert (await worker.beat(one)).to_stop == [(one.batch_id, one.job_id, 1)]
    await worker.end(one, reason=Reason.CANCELLED)
    await visit(world)
    await world.fold()
    again = await worker.claim()

    assert sorted((each.batch_id, each.attempt) for each in again) == sorted(
        [(one.batch_id, 2), (high, 1)]
    )
    assert (await worker.beat(*again)).to_stop == []
    assert await world.findings() == {}
    assert await worker.end(*again) == ["ok", "ok"]
    await world.fold()


async def test_it_waits_while_the_date_has_not_come(world: World) -> None:
    worker, one, high = await preempted(world, wait_s=LATER_S)
    await worker.end(one, reason=Reason.CANCELLED)
    claimed = await worker.claim()

    assert [each.batch_id for each in claimed] == [high]
    assert await world.states(one.batch_id) == "r"
    await world.fold()


@pytest.mark.parametrize(
    ("reason", "state"),
    [(None, "s"), (Reason.EXIT, "f"), (Reason.CANCELLED, "r"), (Reason.LOST, "r")],
)
async def test_it_ends_as_its_worker_says(world: World, reason: Reason | None, state: str) -> None:
    """A program that ends by itself meanwhile has ended; a repeated report is answered alike."""
    worker, one, _ = await preempted(world, wait_s=LATER_S)

    assert await worker.end(one, reason=reason) == ["ok"]
    assert await worker.end(one, reason=reason) == ["ok"]
    assert await world.states(one.batch_id) == state
    await world.fold()


async def test_it_is_cancelled_while_it_is_stopped(world: World) -> None:
    worker, one, _ = await preempted(world, wait_s=LATER_S)
    await world.api.cancel_jobs(world.caller, one.batch_id, [one.job_id])
    await worker.end(one, reason=Reason.CANCELLED)

    assert await world.states(one.batch_id) == "c"
    await world.fold()


async def test_job_that_is_preempted_again_waits_again(world: World) -> None:
    """Another job causes it: the same one does not before it has run."""
    worker, one, high = await preempted(world, wait_s=0)
    await worker.end(one, reason=Reason.CANCELLED)
    await visit(world)
    again = [each for each in await worker.claim() if each.batch_id == one.batch_id]
    await worker.start(*again)
    other = await world.submit(rows_of(world, 1))
    epoch, stopped = await world.lead(), [(one.batch_id, one.job_id, 2)]

    assert await world.driver.preempt_jobs(epoch, (high, 1), stopped, wait_s=9) == 0
    assert await world.driver.preempt_jobs(epoch, (other, 1), stopped, wait_s=9) == 1
    await world.fold()
    assert await world.findings() == {}
    await worker.end(*again, reason=Reason.CANCELLED)
    assert await world.states(one.batch_id) == "r"
    await world.fold()


async def test_each_waits_for_one_stop_and_each_is_stopped_once(world: World) -> None:
    await save(world)
    may_be_stopped = {"preemptible": True}
    _, worker, claimed = await world.submit_and_start(
        with_fields(job_rows(2), j1=may_be_stopped, j2=may_be_stopped)
    )
    first, second = [(one.batch_id, one.job_id, one.attempt) for one in claimed]
    high = await world.submit(rows_of(world, 2))
    epoch, preempt = await world.lead(), world.driver.preempt_jobs
    earlier = (*first[:2], first[2] - 1)

    assert await preempt(epoch, (high, 1), [earlier], wait_s=LATER_S) == 0
    assert await preempt(epoch, (high, 1), [first], wait_s=LATER_S) == 1
    assert await preempt(epoch, (high, 1), [second], wait_s=LATER_S) == 0
    assert await preempt(epoch, (high, 2), [first], wait_s=LATER_S) == 0
    assert await preempt(epoch, (high, 2), [first, second], wait_s=LATER_S) == 1
    await worker.end(*claimed, reason=Reason.CANCELLED)
    assert await world.states(claimed[0].batch_id) == "rr"
    await world.fold()


async def test_a_job_that_a_worker_has_claimed_stops_what_runs_there(world: World) -> None:
    """A claim takes the first job whatever its size, so such a job is not ready any more."""
    await save(world)
    may_be_stopped = {"preemptible": True}
    low = await world.submit(with_fields(job_rows(2), j1=may_be_stopped, j2=may_be_stopped))
    worker, other = await world.worker("w"), await world.worker("x")
    (here,) = await worker.claim(1)
    (elsewhere,) = await other.claim(1)
    await worker.start(here)
    await other.start(elsewhere)
    high = await world.submit(rows_of(world, 1))
    (lease,) = await worker.claim(1)
    await world.fold()
    epoch = await world.lead()

    async def leases() -> list[tuple[int, int, str]]:
        rows = await world.driver.preemption_rounds(epoch)
        hosts = [msgspec.convert(one, Host) for row in rows for one in row["hosts"]]
        return [(one.batch_id, one.attempt, one.worker) for each in hosts for one in each.leases]

    async def preempt(*stopped: Claimed) -> int:
        keys = [(one.batch_id, one.job_id, one.attempt) for one in stopped]
        return await world.driver.preempt_jobs(epoch, (high, 1), keys, wait_s=LATER_S)

    assert await leases() == [(high, 0, "w")]
    assert await preempt(elsewhere, here, lease) == 1
    assert await leases() == []
    await worker.end(here, reason=Reason.CANCELLED)
    await worker.end(lease, reason=Reason.LOST, start_age_us=None)
    (lease,) = await other.claim(1)
    await world.fold()

    assert sorted(await world.states(low)) == ["R", "r"]
    assert await preempt(elsewhere) == 0, "it has not run in between"
    assert await leases() == []
    await other.start(lease)
    await world.fold()
    assert await world.driver.preemption_rounds(epoch) == [], "no worker is looked at"
    await other.end(lease, reason=Reason.LOST)
    (lease,) = await other.claim(1)
    await world.fold()
    assert await leases() == [(high, 2, "x")]
    assert await preempt(elsewhere) == 1
