"""The audit finds every job that has not ended and is left to nobody."""

from typing import Any

import pytest

from store.test_recovery import fail, retried
from store.world import World
from weft.sql import files_of
from weft.testing.builders import job_rows

SET_STATE = "UPDATE weft.job SET state = {} WHERE batch_id = $1 AND job_id = {}"
END_WORKER = """
    UPDATE weft.worker_incarnation SET ended_at = now() WHERE incarnation_id IN (
        SELECT incarnation_id FROM weft.job WHERE batch_id = $1)
"""
ORPHANS = {
    "pending": (SET_STATE.format(9, 1), "waiting_jobs_have_owners"),
    "ready": ("DELETE FROM weft.runnable WHERE batch_id = $1", "ready_jobs_are_reachable"),
    "queued": (SET_STATE.format(2, 1), "waiting_jobs_have_owners"),
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
    finally:
        await transaction.rollback()
    return found


@pytest.mark.parametrize("kind", ORPHANS)
async def test_audit_finds_an_orphan(world: World, kind: str) -> None:
    batch = await world.submit(
        retried() if kind == "blocked"
        else job_rows(2, parents={2: [1]} if kind == "pending" else {})
    )  # fmt: skip
    if kind in {"running", "lost", "blocked"}:
        worker = await world.worker()
        claimed = await worker.claim()
        if kind == "blocked":
            await fail(worker, *claimed)
    broken, check = ORPHANS[kind]

    assert await found_by(world, batch, "SELECT $1::bigint") == set()
    assert check in await found_by(world, batch, broken)
