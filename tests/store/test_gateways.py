"""Workers whose attempts run in an engine elsewhere."""

from datetime import datetime

import pytest

from store.world import Worker, World
from weft.core import errors
from weft.core.scheduling.black_holes import AvoidedNode
from weft.core.states import Reason

GRACE_S = 30.0


async def test_what_an_engine_runs_is_lost_by_no_silence(world: World) -> None:
    """It may run there: nobody else gets it until a person says that it is gone (ADR 21)."""
    batch, epoch = await world.submit(), await world.lead()
    other = await world.worker()
    gateway = {**other.facts, "name": "gateway", "incarnation": "of a directory", "outlives": True}
    worker = Worker(other.store, await other.store.register_worker(**gateway), gateway)
    (_one,) = await worker.claim_and_start()
    await world.age("worker_incarnation", "heartbeat_at", by_s=86_400, incarnation_id=worker.id)

    assert not await world.driver.lose_workers(epoch, GRACE_S)
    assert (
        await world.driver.loop_due(epoch, "reaper", grace_s=GRACE_S) is not None
    )  # of the other
    shown = await world.api.get_worker(world.caller, "gateway", world.pool)
    facts = await world.api.why_job(world.caller, batch, 1)
    with pytest.raises(errors.WorkerAlive) as refused:
        await worker.store.register_worker(**{**gateway, "incarnation": "of another directory"})
    assert (shown["state"], await world.states(batch)) == ("silent", "R")
    assert facts.silent_since == datetime.fromisoformat(str(shown["heartbeat_at"]))
    assert "weft worker lose" in refused.value.hint
    assert await world.api.lose_worker(world.caller, "gateway", world.pool)
    assert not await world.api.lose_worker(world.caller, "gateway", world.pool)
    assert await world.states(batch) == "r"
    with pytest.raises(errors.IncarnationEnded):
        await worker.store.register_worker(**gateway)
    shown = await world.api.get_worker(world.caller, "gateway", world.pool)
    assert (shown["state"], shown["history"][0]["state"]) == ("lost", "lost")
    assert shown["history"][0]["actor"] == f"user {world.caller.user_name}"


async def test_copy_of_a_state_directory_is_refused(world: World) -> None:
    """While the original is heard of: both would have the same attempts. One that moved is not."""
    other = await world.worker()
    gateway = {
        **other.facts,
        "name": "g3",
        "incarnation": "of a copied one",
        "outlives": True,
        "log_directory": "/srv/weft/logs",
    }
    first = await other.store.register_worker(**gateway)
    again = await other.store.register_worker(**gateway)
    for change in ({"log_directory": "/copy/logs"}, {"host": "another"}):
        with pytest.raises(errors.WorkerAlive, match="already running") as refused:
            await other.store.register_worker(**{**gateway, **change})
        assert "/srv/weft/logs: the state directory here is a copy" in refused.value.detail
    await world.age(
        "worker_incarnation", "heartbeat_at", by_s=60, incarnation_id=first.incarnation_id
    )
    moved = await other.store.register_worker(**{**gateway, "host": "another"})
    assert {one.incarnation_id for one in (first, again, moved)} == {first.incarnation_id}


async def test_gateway_is_not_cordoned_as_a_black_hole(world: World) -> None:
    """It avoids single nodes of its engine; a worker that ends so may be cordoned."""
    await world.submit(2)
    other, epoch = await world.worker(), await world.lead()
    gateway = {**other.facts, "name": "g2", "incarnation": "of another one", "outlives": True}
    ids = []
    for worker in (
        other,
        Worker(other.store, await other.store.register_worker(**gateway), gateway),
    ):
        (one,) = await worker.claim(1)
        assert await worker.end(one, reason=Reason.EXIT) == ["ok"]
        ids.append(worker.registered.worker_id)

    rows = await world.driver.recent_ends(epoch, window_s=60, fast_s=5, limit_events=100)
    assert {row["worker_id"]: row["is_active"] for row in rows} == {ids[0]: True, ids[1]: False}


async def test_nodes_that_a_gateway_avoids_are_shown_for_their_time(world: World) -> None:
    """The newest word counts, and only of one that lives."""
    worker = await world.worker()
    name = worker.facts["name"]

    async def shown() -> list[tuple[str, str]]:
        found = await world.api.get_worker(world.caller, name, world.pool)
        return [(one["node"], one["reason"]) for one in found["avoids"]]

    assert await shown() == []
    nodes = [AvoidedNode("n1", 60.0, "12 attempts"), AvoidedNode("n0", -1.0, "over")]
    await worker.store.note_avoided(worker.id, nodes)
    assert await shown() == [("n1", "12 attempts")]
    many = [AvoidedNode(f"n{number:03}", 60.0, "x" * 1000) for number in range(200)]
    await worker.store.note_avoided(worker.id, many)
    assert len(await shown()) == 100
    await worker.store.note_avoided(worker.id, [])
    assert await shown() == []
    await worker.store.note_avoided(worker.id, nodes)
    await worker.store.leave(worker.id)
    await worker.store.note_avoided(worker.id, nodes)
    assert await shown() == []


async def test_linked_worker_that_is_silent_reconnects(world: World) -> None:
    """From a late beat on; of one with a login of the database nothing is said."""
    batch, _worker, (_one,) = await world.submit_and_start()
    since = []
    for age_s, token in ((14, None), (14, 1), (8, 1)):
        await world.admin.execute(
            "UPDATE weft.worker_incarnation SET token_id = $2, "
            "heartbeat_at = now() - $1 * interval '1 second'",
            age_s,
            token,
        )
        since.append((await world.api.why_job(world.caller, batch, 1)).reconnects_since)

    assert [one is not None for one in since] == [False, True, False]
