"""Workers that say they have what no host has, and the audit of what they ran at once."""

import math
from typing import Any

import pytest

from store.world import World
from weft.core import errors
from weft.core.states import Reason

ONE_BESIDE_ANOTHER = """
WITH small AS (UPDATE weft.worker_incarnation SET cpu_m = 1000 WHERE incarnation_id = $2),
first AS (
    UPDATE weft.attempt SET claimed_at = now() - interval '60 s', ended_at = now(), reason = $4,
        started_at = now() - interval '60 s' + $5 * interval '1 s'
    WHERE batch_id = $1 RETURNING batch_id, job_id, attempt, tenant_id),
second AS (
    UPDATE weft.job SET started_at = now() - interval '10 s' WHERE batch_id = $1 AND job_id = 2)
INSERT INTO weft.attempt_staging SELECT f.*, $6, $3 FROM first f
"""


async def test_a_worker_with_an_impossible_capacity_changes_nothing(world: World) -> None:
    """It is refused, no job is accepted because of it, and a real one works."""
    cases: list[tuple[Any, ...]] = [
        ({"cpu_m": 1_000_000_000}, "1000000 cores; possible are 0.001 to 100000"),
        ({"cpu_m": -1}, "-0.001 cores"),
        ({"cpu_m": 0}, "0 cores"),
        ({"memory_mib": 2**40}, "1099511627776 MiB of memory"),
        ({"gpu": -1}, "-1 GPUs"),
        ({"matlab": 10**12}, "1000000000000 matlab"),
        ({"matlab": -2}, "-2 matlab"),
        ({"matlab": 1.5}, "1.5 matlab"),
        ({"matlab": math.nan}, "null matlab"),  # JSON has no other form for it
    ]
    for forged, told in cases:
        with pytest.raises(errors.ImpossibleCapacity) as refused:
            await world.worker("forged", **forged)

        assert told in refused.value.detail
    batch = await world.submit(2)
    listed = await world.api.list_workers(world.caller, with_deleted=True, limit=9)
    offers = await world.api.pool_offers()
    claimed = await (await world.worker("real", cpu_m=2000)).claim()

    assert listed == []
    assert all(0 < one["cpu_m"] <= 100_000_000 for one in offers)
    assert [(one.batch_id, one.job_id) for one in claimed] == [(batch, 1), (batch, 2)]


async def test_audit_counts_an_attempt_while_it_surely_ran(world: World) -> None:
    """Its processes have ended while outputs are stored, and others may begin; when those of a
    lost one ended nobody knows. What was reported late began and ended earlier than it says.
    """
    batch, worker, (ended, _) = await world.submit_and_start(2)
    await worker.end(ended)
    beyond, lost = [("cpu_m", 2000, 1000)], Reason.LOST
    for *facts, wrong in (
        (0, lost, 0, 0, []),
        (20_000, None, 0, 0, []),
        (0, None, 9, 0, beyond),
        (0, None, 11, 0, []),
        (0, None, 35, 29_000, beyond),
        (0, None, 35, 23_000, []),
    ):
        found = await world.findings_after(ONE_BESIDE_ANOTHER, batch, worker.id, *facts)
        rows = found.get("workers_stay_within_capacity", [])
        assert [(row["name"], row["amount"], row["amount_max"]) for row in rows] == wrong
