"""The audit and the driver find every job that has not ended and is left to nobody."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from builders import job_rows
from store.retries import fail, retried
from store.test_workers import lose, was_silent
from store.world import Worker, World
from weft.ports.store import Position
from weft.sql import files_of

SET_STATE = "UPDATE weft.job SET state = {} WHERE batch_id = $1 AND job_id = {}"
END_WORKER = """
    UPDATE weft.worker_incarnation SET ended_at = now() WHERE incarnation_id IN (
        SELECT incarnation_id FROM weft.job WHERE batch_id = $1)
"""
ORPHANS = {
    "pending": (SET_STATE.format(9, 1), "waiting_jobs_have_owners"),
    "ready": ("DELETE FROM weft.runnable WHERE batch_id = $1", "ready_jobs_are_reachable"),
    "queued": (SET_STATE.format(2, 1), "queued_jobs_are_offered"),
    "creating": (SET_STATE.format(3, 1), "own_machines_have_jobs"),
    "running": ("DELETE FROM weft.claim WHERE batch_id = $1", "live_attempts_have_owners"),
    "lost": (END_WORKER, "live_attempts_have_owners"),
    "blocked": ("DELETE FROM weft.blocked_job WHERE batch_id = $1", "blocked_jobs_have_dates"),
}
"""By what becomes of a job: what makes it an orphan, and the check that finds it."""


async def found_by(world: World, batch: int, broken: str) -> set[str]:
    """Return the checks that find something in a batch once this is done to it."""
    found: set[str] = set()
    transaction: Any = world.admin.transaction()
    await transaction.start()
    try:
        await world.admin.execute("SET LOCAL session_replication_role = replica")
        await world.admin.execute(broken, batch)
        for file in files_of("audit"):
            rows = await world.admin.fetch(file.text)
            found |= {file.name for row in rows if row.get("batch_id") == batch}
        found |= {one["state"] for one in await patrolled(world) if one["batch_id"] == batch}
    finally:
        await transaction.rollback()
    return found


async def patrolled(world: World, *, limit: int = 100) -> list[Mapping[str, Any]]:
    """Return what the driver finds in our tenant."""
    position, found = Position(world.caller.tenant_id), []
    epoch = await world.lead()
    while step := await world.call(
        "patrol",
        epoch=epoch,
        from_tenant=position.tenant_id,
        from_batch=position.batch_id,
        after_job=position.after_job,
        limit_jobs=limit,
    ):
        ((document,),) = step
        if document is None or document["tenant_id"] != world.caller.tenant_id:
            break
        found += document["orphans"]
        position = Position(document["tenant_id"], document["batch_id"], document["job_id"])
    return found


@pytest.mark.parametrize("kind", ORPHANS)
async def test_audit_and_driver_find_an_orphan(world: World, kind: str) -> None:
    batch = await world.submit(
        retried()
        if kind == "blocked"
        else job_rows(2, parents={2: [1]} if kind == "pending" else {})
    )
    if kind in {"running", "lost", "blocked"}:
        worker, claimed = await world.claim()
        if kind == "blocked":
            await fail(worker, *claimed)
    await world.fold()
    broken, check = ORPHANS[kind]
    state = "running" if kind == "lost" else kind

    assert await found_by(world, batch, "SELECT $1::bigint") == set()
    assert {check, state} <= await found_by(world, batch, broken)


async def test_driver_looks_at_each_job_once(world: World, worker: Worker) -> None:
    """However small its steps are; jobs that have ended are passed over."""
    batches = [await world.submit(n_jobs) for n_jobs in (3, 1, 4)]
    await worker.run()
    batches += [await world.submit(job_rows(2, parents={2: [1]})) for _ in range(3)]
    sparse = await world.submit(100)
    left = (1, 2, 20, 21, 22, 61, 62, 63, 64, 99)
    await world.fold()
    transaction: Any = world.admin.transaction()
    await transaction.start()
    try:
        await world.admin.execute("SET LOCAL session_replication_role = replica")
        await world.admin.execute(
            "UPDATE weft.job SET state = 2 WHERE batch_id = ANY ($1)", [*batches, sparse]
        )
        await world.admin.execute(
            "UPDATE weft.job SET state = 6 WHERE batch_id = $1 AND job_id <> ALL ($2)",
            sparse,
            left,
        )
        found = {
            limit: [
                (one["batch_id"], one["job_id"]) for one in await patrolled(world, limit=limit)
            ]
            for limit in (1, 3, 100)
        }
    finally:
        await transaction.rollback()

    open_jobs = [(batch, number) for batch in batches[3:] for number in (1, 2)]
    open_jobs += [(sparse, number) for number in left]
    assert found == dict.fromkeys((1, 3, 100), open_jobs)


FULL_DISK = """
CREATE FUNCTION weft.full_disk() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE disk_full; END';
CREATE TRIGGER full_disk BEFORE INSERT ON weft.claim FOR EACH ROW
WHEN (NEW.incarnation_id = {}) EXECUTE FUNCTION weft.full_disk();
"""


async def test_worker_lives_while_the_disk_of_the_database_is_full(world: World) -> None:
    """Most of what its heartbeat says cannot be written; its jobs go on."""
    batch, worker, claimed = await world.submit_and_start()
    await was_silent(world, worker, 3600)
    await world.admin.execute(FULL_DISK.format(worker.id))
    answer = await worker.beat(*claimed)
    await world.admin.execute("DROP FUNCTION weft.full_disk CASCADE")

    assert (answer.alive, answer.has_work, answer.to_stop) == (True, False, [])
    assert (await lose(world), await world.states(batch)) == ([], "R")


async def test_no_audit_reads_a_batch_again_for_each_of_its_updates(world: World) -> None:
    """Nor a view: of 1,000,000 jobs in 2,000 updates a check took ten minutes."""
    again, texts = [], {file.name: file.text for file in files_of("audit")}
    texts |= {one.name: f"TABLE weft_views.{one.name}" for one in files_of("views")[1:]}
    async with world.admin.transaction():
        for way in ("hashjoin", "seqscan", "mergejoin"):
            await world.admin.execute(f"SET LOCAL enable_{way} = off")
        for name, text in texts.items():
            plan = await world.admin.fetchval(f"EXPLAIN (FORMAT JSON) {text}")
            reads = (one for one in plan.split("{") if '"Relation Name": "job"' in one)
            again += [name for one in reads if re.search(r'"Filter": ".*\bupdate_id = ', one)]
    assert again == []
