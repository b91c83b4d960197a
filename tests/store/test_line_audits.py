"""The audit of production lines names what breaks each of its sentences, and that of jobs
that travel finds what must never be: each is broken once on purpose.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from builders import job_rows
from store.barriers import set_quota, visit
from store.retries import release
from store.test_lifecycle_exits import end
from store.test_lifecycles import both
from store.test_sinks import apply
from store.test_transports import Rabbit, messages_of, rabbit
from store.world import World
from weft.sql import files_of, text_of
from weft_lines.rules.setup import parse_setup

__all__ = ["rabbit"]

SOURCE = """
[source.scenes]
kind = "directory"
path = "/in"
job = "snow"
[job.snow]
command = ["true"]
"""
ITEMS = """
WITH last AS (UPDATE weft.source s SET last_n = 9, work_at = now() WHERE s.tenant_id = $1)
INSERT INTO weft.source_item (source_id, n, tenant_id, key, fields, found_at, state, reason,
    due_at, batch_id, job_id, series, series_at, series_from)
SELECT s.source_id, n, s.tenant_id, 'scene-' || n, '{}', now(),
    CASE WHEN n < 3 THEN 'job' ELSE 'waiting' END, CASE WHEN n = 3 THEN 'a quota' END,
    CASE WHEN n = 3 THEN now() END, CASE WHEN n < 3 THEN $2::bigint END,
    CASE WHEN n < 3 THEN n END, 'T', n, '-Infinity'
FROM weft.source s, generate_series(1, 3) n WHERE s.tenant_id = $1
"""
FORBIDDEN = """
WITH new AS (
    INSERT INTO weft.job_status_change (batch_id, job_id, n, tenant_id, at, status, state, actor)
    SELECT batch_id, job_id, n + 1, tenant_id, now(), 1, state, 'weft' FROM weft.job_status_change
    WHERE batch_id = $1 AND job_id = 1 ORDER BY n DESC LIMIT 1 RETURNING n)
UPDATE weft.job_status SET status = 1, n = new.n FROM new WHERE batch_id = $1 AND job_id = 1
"""
UNSEEN = """
UPDATE weft.source s SET work_at = NULL FROM weft.source_item i
WHERE i.batch_id = $1 AND s.source_id = i.source_id
"""
BREACHES = {
    # Each history is a path in its table, ...
    "a step that the table forbids": (
        "statuses_follow_lifecycles",
        FORBIDDEN,
    ),
    "a row that is missing": (
        "statuses_follow_lifecycles",
        "DELETE FROM weft.job_status_change WHERE batch_id = $1 AND job_id = 1 AND n = 2",
    ),
    # ... ends at the job's status, ...
    "another status than the last row": (
        "statuses_follow_lifecycles",
        "UPDATE weft.job_status SET status = 13 WHERE batch_id = $1 AND job_id = 1",
    ),
    "a job without a status": (
        "statuses_follow_lifecycles",
        "DELETE FROM weft.job_status WHERE batch_id = $1 AND job_id = 2",
    ),
    # ... which fits its state.
    "a core that moved without its status": (
        "statuses_follow_lifecycles",
        "UPDATE weft.job SET state = 7 WHERE batch_id = $1 AND job_id = 1",
    ),
    # Each item has one job or a reason.
    "an item whose job there is not": (
        "items_have_jobs",
        "UPDATE weft.source_item SET job_id = 9 WHERE batch_id = $1 AND n = 1",
    ),
    "two items of one job": (
        "items_have_jobs",
        "UPDATE weft.source_item SET job_id = 1 WHERE batch_id = $1",
    ),
    "an item at which nobody looks": (
        "items_have_jobs",
        UNSEEN,
    ),
    # Deliveries due are made.
    "a message that nobody recorded": (
        "messages_are_recorded",
        "DELETE FROM weft.callback_delivery WHERE batch_id = $1",
    ),
    "a message that is neither due nor tried": (
        "messages_are_recorded",
        "UPDATE weft.callback_delivery SET next_at = NULL WHERE batch_id = $1",
    ),
    "a message of a job that did not end well": (
        "messages_are_recorded",
        "UPDATE weft.callback_delivery SET job_id = 2 WHERE batch_id = $1",
    ),
    "a message behind none": (
        "followers_wait_for_one",
        "UPDATE weft.callback_delivery SET behind = true WHERE batch_id = $1",
    ),
    # Series are in order.
    "a later item whose job came first": (
        "series_are_in_order",
        "UPDATE weft.source_item SET series_at = 3 - series_at WHERE batch_id = $1",
    ),
}


async def n_found(connection: asyncpg.Connection, name: str) -> int:
    """Return how much one file of the audit finds."""
    return len(await connection.fetch(text_of("audit", name)))


async def test_each_breach_is_named(world: World) -> None:
    await apply(world)
    await world.api.save_setup(world.caller, "snow", SOURCE, parse_setup(SOURCE))
    batch, worker, (claimed,) = await world.submit_and_start(
        job_rows(2), lifecycle="hrsi", sink="wekeo", limit=1
    )
    await worker.end(claimed)
    await world.admin.execute(ITEMS, world.caller.tenant_id, batch)
    owner = await world.connect()
    unbroken = {name: await n_found(owner, name) for name, _ in BREACHES.values()}
    for what, (name, change) in BREACHES.items():
        broken = owner.transaction()
        await broken.start()
        await owner.execute("SET LOCAL session_replication_role = replica")  # without triggers
        assert await owner.execute(change, batch) not in {"UPDATE 0", "DELETE 0"}, what
        assert await n_found(owner, name) > unbroken[name], what
        await broken.rollback()
    with pytest.raises(asyncpg.CheckViolationError, match="says_why"):
        await owner.execute("UPDATE weft.source_item SET reason = NULL WHERE state = 'waiting'")


async def test_job_that_waits_for_its_next_attempt_is_well(world: World) -> None:
    """Its status is still that of its error, from which the attempt begins."""
    await apply(world)
    batch = await world.submit(job_rows(1), lifecycle="hrsi")
    await end(await world.worker(), 130)
    await release(world, in_s=3600)
    assert await both(world, batch) == ("external_error", "ready")


OFFERED = "queued_jobs_are_offered"


@asynccontextmanager
async def undone(world: World) -> AsyncIterator[None]:
    """Take all changes back."""
    transaction = world.admin.transaction()
    await transaction.start()
    try:
        yield
    finally:
        await transaction.rollback()


async def found(world: World, batch: int) -> set[str]:
    """Return which checks find something of a batch, or of no batch."""
    checks = set()
    for file in files_of("audit"):
        rows = [dict(row) for row in await world.admin.fetch(file.text)]
        if any(row.get("batch_id") in {None, batch} for row in rows):
            checks.add(file.name)
    return checks


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ("DELETE FROM weft.transport_offer WHERE batch_id = $1", OFFERED),
        ("UPDATE weft.job SET state = 1, listed = true WHERE batch_id = $1", OFFERED),
        (
            (
                "UPDATE weft.job SET state = 4, attempt = 1, claimed_at = now(), "
                "incarnation_id = ("
                "SELECT max(incarnation_id) FROM weft.worker_incarnation) WHERE batch_id = $1"
            ),
            OFFERED,
        ),
        ("UPDATE weft.transport_offer SET attempt = 1 WHERE batch_id = $1", OFFERED),
        ("UPDATE weft.transport_offer SET job_id = job_id + 90 WHERE batch_id = $1", OFFERED),
        (
            (
                "UPDATE weft.job SET state = 9, cancelled_at = now() - interval '1 hour' "
                "WHERE batch_id = $1"
            ),
            OFFERED,
        ),
        ("DELETE FROM weft.place WHERE batch_id = $1", "places_have_jobs"),
        (
            (
                "UPDATE weft.gate SET n_taken = 0 WHERE gate_id IN ("
                "SELECT gate_id FROM weft.place WHERE batch_id = $1)"
            ),
            "places_are_counted",
        ),
        (
            (
                "UPDATE weft.user_share SET running_m = 0 WHERE user_id = ("
                "SELECT user_id FROM weft.batch WHERE batch_id = $1)"
            ),
            "shares_equal_jobs",
        ),
    ],
)
async def test_each_fault_is_named(rabbit: Rabbit, change: str, check: str) -> None:
    world = rabbit.world
    await set_quota(world, "ada", cores=3)
    await visit(world)
    batch = await rabbit.submit(2)
    await rabbit.consumer()
    assert len(messages_of(await rabbit.round())) == 2
    await world.driver.note_transport(rabbit.epoch, rabbit.names[0], None, [])
    await world.fold()
    async with undone(world):
        before = await found(world, batch)
        await world.admin.execute(change, batch)
        after = await found(world, batch)

    assert check in after - before
