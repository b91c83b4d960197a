"""Workers that the driver cordoned because attempts fail there at once."""

import pytest

from store.world import Worker, World
from weft.core.states import Reason
from weft.ports.store import Row

SOON_S = 9.0


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


def counts(row: Row) -> tuple[int, int, int]:
    """Return how many attempts ended how."""
    return row["successes"], row["fast_failures"], row["slow_failures"]


async def recent_ends(world: World, worker: Worker) -> list[Row]:
    """Return the newest ends in the pool of a worker."""
    rows = await world.driver.recent_ends(
        await world.lead(), window_s=60, fast_s=5, limit_events=1000
    )
    return [row for row in rows if row["pool_id"] == worker.registered.pool_id]


async def known_hole(world: World) -> Row:
    """Return what is known of the worker `bad`."""
    (found,) = [
        row for row in await world.driver.black_holes(await world.lead()) if row["worker"] == "bad"
    ]
    return found


async def test_worker_is_cordoned_tries_one_job_and_comes_back(world: World) -> None:
    """While it is cordoned it gets none, and for its try exactly one. A failed try counts."""
    epoch, good, bad = await world.lead(), await world.worker("good"), await world.worker("bad")
    await world.submit(6)
    assert len(await good.run(1)) == 1
    await bad.run(2, Reason.EXIT)
    failed, succeeded = await recent_ends(world, bad)
    assert counts(failed) == (0, 2, 0)
    assert counts(succeeded) == (1, 0, 0)
    assert failed["at"] >= succeeded["at"]
    assert failed["is_active"]
    worker_id, move = failed["worker_id"], world.driver.move_black_hole
    assert await move(epoch, worker_id, "try", "too early", retry_s=SOON_S) is None
    assert await move(epoch, worker_id, "cordon", "why", retry_s=SOON_S) == "bad"
    assert await move(epoch, worker_id, "cordon", "why", retry_s=SOON_S) is None
    known = await known_hole(world)
    assert (known["n_tries"], known["outcome"]) == (0, "none")
    assert 0 < known["due_in_s"] <= SOON_S
    assert await bad.claim(1) == []
    assert await move(epoch, worker_id, "try", "now", retry_s=SOON_S) == "bad"
    assert (await known_hole(world))["due_in_s"] is None
    (tried,) = await bad.claim()
    assert await bad.claim() == []
    known = await known_hole(world)
    assert (known["outcome"], known["due_in_s"]) == ("running", None)
    await bad.end(tried, reason=Reason.EXIT)
    known = await known_hole(world)
    assert (known["outcome"], known["due_in_s"] <= 0) == ("failure", True)
    assert await move(epoch, worker_id, "wait", "again", retry_s=0) == "bad"
    known = await known_hole(world)
    assert (known["n_tries"], known["outcome"]) == (1, "none")
    assert await move(epoch, worker_id, "try", "now", retry_s=SOON_S) == "bad"
    assert len(await bad.run(1)) == 1
    assert (await known_hole(world))["outcome"] == "success"
    assert await move(epoch, worker_id, "uncordon", "it works", retry_s=0) == "bad"
    assert "bad" not in {row["worker"] for row in await world.driver.black_holes(epoch)}
    assert [one["worker_id"] for one in await recent_ends(world, bad)] == [succeeded["worker_id"]]
    assert len(await bad.run(1)) == 1
    log = await world.api.list_pool_changes(world.caller, world.pool, limit=9)
    assert [one["kind"] for one in log][:2] == ["uncordon", "cordon"]
