"""What is read of production lines: what an item or a message concerns, however many there are."""

import pytest

from api.ask_lines import SOURCE
from plans.table_reads import reads
from store.test_sinks import apply, due, report, scene
from store.world import World
from weft.sql import text_of
from weft_lines.rules.setup import parse_setup

pytestmark = pytest.mark.slow
N = 3_000
FEW = 60
ITEMS = """
INSERT INTO weft.source_item (source_id, n, tenant_id, key, fields, found_at, state,
    reason, batch_id, job_id, series, series_at, series_from, left_over)
SELECT s.source_id, x, s.tenant_id, 'k' || x, '{}', now(),
    (ARRAY['job', 'cancelled', 'refused'])[1 + x % 3], 'no', 1, x, 'T', x, '-Infinity',
    CASE WHEN x % 3 = 0 THEN jsonb '{}' END
FROM weft.source s, generate_series(1, $1) x
"""
BEFORE = "SELECT * FROM weft._item_before($1, 'T', 1e9, '{failed}', NULL, NULL, false)"


async def test_item_before_is_a_step_away_behind_many_that_are_none(own_world: World) -> None:
    """Those that were cancelled or refused, and those whose jobs were removed and left nothing."""
    await own_world.api.save_setup(own_world.caller, "one", SOURCE, parse_setup(SOURCE))
    await own_world.admin.execute(ITEMS, N)
    await own_world.admin.execute("ANALYZE weft.source_item")
    source = await own_world.admin.fetchval("SELECT source_id FROM weft.source")
    async with reads(own_world.admin, "source_item") as found:
        assert await own_world.admin.fetch(BEFORE, source) == []
    assert (found["source_item"].scans, found["source_item"].rows_by_index) == (0, 0)


MESSAGES = """
INSERT INTO weft.callback_delivery (kind, batch_id, job_id, sink_id, file, tenant_id, url, host,
    body, order_key, created_at, next_at)
SELECT kind, batch_id, job_id, sink_id, 'x' || x, tenant_id, url, host, body,
    CASE WHEN x < $1 THEN 'T' END, created_at, next_at
FROM weft.callback_delivery, generate_series(1, $1) x
"""
DUE = (
    "SELECT delivery_id FROM weft.due_callbacks(epoch => $1, busy => '{}', limit_all => 100, "
    "limit_tenant => 100, limit_host => 10)"
)


async def test_message_that_backs_off_keeps_its_followers_out_of_the_way(own_world: World) -> None:
    """They are met once, not at each look; the end of the one before brings back the next."""
    await apply(own_world)
    await scene(own_world)
    worker, claimed = await own_world.claim_and_start()
    await worker.end(*claimed)
    await own_world.admin.execute("UPDATE weft.callback_delivery SET order_key = 'T'")
    await own_world.admin.execute(MESSAGES, N)
    first, other = await due(own_world)
    await report(own_world, first, 503, retry_in_s=3600)
    await own_world.admin.execute("ANALYZE weft.callback_delivery")
    connection = await own_world.connect("weft_driver")
    epoch = await own_world.lead()
    async with reads(connection, "callback_delivery") as found:
        rows = await connection.fetch(DUE, epoch)
        beat = await connection.fetchrow("SELECT * FROM weft.beat_driver($1, 30)", epoch)
    assert [row[0] for row in rows] == [other.delivery_id]
    assert beat is not None
    assert "callback" in beat["loops"]
    assert found["callback_delivery"].scans == 0
    assert found["callback_delivery"].rows_by_index < FEW
    assert await own_world.admin.fetch(text_of("audit", "followers_wait_for_one")) == []

    await report(own_world, other, 200)
    for one in range(3):  # delivered, given up, and its job deleted
        (first,) = await due(own_world, 4000)
        if one < 2:
            await report(own_world, first, 200 if one else 503)
        else:
            await own_world.admin.execute(
                "DELETE FROM weft.callback_delivery WHERE delivery_id = $1", first.delivery_id
            )
        assert await own_world.admin.fetch(text_of("audit", "followers_wait_for_one")) == []
    (last,) = await due(own_world)
    assert last.delivery_id == first.delivery_id + 1
    # They are no messages of any job.
    await own_world.admin.execute("DELETE FROM weft.callback_delivery WHERE file <> ''")
