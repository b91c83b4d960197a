"""Heartbeats of workers that have nothing, and of those that have something left."""

import pytest

from store.test_workers import columns
from store.world import World
from weft.store.database import call_on


@pytest.mark.parametrize(
    "has", ["nothing", "an attempt", "an unheard claim", "a claim under way", "a stop"]
)
async def test_heartbeat_sees_what_is_left_of_a_worker(world: World, has: str) -> None:
    """Only one who has nothing takes the short path (ADR 51)."""
    worker = await world.worker()
    batch = await world.submit(1)
    claimed = await worker.claim(1) if has in {"an attempt", "an unheard claim"} else []
    await world.admin.execute(
        "INSERT INTO weft.attempt_stop SELECT $1, 1, 1, $2, $3, false, false, clock_timestamp() "
        "WHERE $4",
        batch, world.caller.tenant_id, worker.id, has == "a stop",
    )  # fmt: skip
    async with world.transaction("weft_worker") as connection:
        (row,) = await call_on(
            connection, "heartbeat", incarnation_id=worker.id, draining=False,
            claiming=has == "a claim under way",
            **columns(*(claimed if has == "an attempt" else ())),
        )  # fmt: skip
    stops = await world.admin.fetch(
        "DELETE FROM weft.attempt_stop WHERE incarnation_id = $1 RETURNING gone", worker.id
    )

    assert (row["alive"], row["has_work"]) == (True, not claimed)
    assert all(stop["gone"] for stop in stops)
