"""Workers that the driver cordoned because attempts fail there at once."""

import pytest

from store.world import Worker, World
from weft.core.states import Reason


async def aside(world: World) -> Worker:
    """Return the worker `w`, which the driver has cordoned."""
    _, worker, (one,) = await world.submit_and_claim(9, limit=1)
    await worker.end(one, reason=Reason.EXIT)
    epoch, worker_id = await world.lead(), worker.registered.worker_id
    assert await world.driver.move_black_hole(epoch, worker_id, "cordon", "why", retry_s=0) == "w"
    return worker


async def tries(world: World) -> int:
    rows = await world.driver.black_holes(await world.lead())
    return sum(row["worker"] == "w" for row in rows)


@pytest.mark.parametrize("verb", ["cordon_worker", "drain_worker", "uncordon_worker"])
async def test_what_a_person_says_ends_the_tries(world: World, verb: str) -> None:
    worker = await aside(world)
    more = {} if verb == "uncordon_worker" else {"reason": "mine"}
    assert await getattr(world.api, verb)(world.caller, "w", world.pool, **more)
    shown = await world.api.get_worker(world.caller, "w", world.pool)
    epoch, worker_id = await world.lead(), worker.registered.worker_id

    assert await tries(world) == 0
    assert shown["cordon_reason"] == more.get("reason")
    assert await world.driver.move_black_hole(epoch, worker_id, "try", "", retry_s=0) is None
    assert bool(await worker.claim(1)) == (verb == "uncordon_worker")


async def test_a_try_survives_a_restart_of_the_worker(world: World) -> None:
    """The new process is cordoned, and may try as well."""
    worker = await aside(world)
    epoch, worker_id = await world.lead(), worker.registered.worker_id
    assert await world.driver.move_black_hole(epoch, worker_id, "try", "", retry_s=0)
    await worker.store.leave(worker.id)
    again = await world.worker()

    assert await again.claim() == []
    (row,) = [one for one in await world.driver.black_holes(epoch) if one["worker"] == "w"]
    assert (row["outcome"], row["due_in_s"] <= 0) == ("none", True)
    assert await world.driver.move_black_hole(epoch, worker_id, "try", "", retry_s=0)
    assert len(await again.claim()) == 1
    assert await again.claim() == []


async def test_claims_of_tries_are_no_finding(world: World) -> None:
    worker = await aside(world)
    epoch, worker_id = await world.lead(), worker.registered.worker_id
    assert await world.driver.move_black_hole(epoch, worker_id, "try", "", retry_s=0)
    (one,) = await worker.claim()
    assert await worker.end(one, reason=Reason.EXIT) == ["ok"]
    folded = await world.driver.fold_deltas(epoch)
    assert await world.driver.move_black_hole(epoch, worker_id, "wait", "", retry_s=9)

    assert "black_holes" in folded.loops
    assert "cordoned_workers_claim_nothing" not in await world.findings()
