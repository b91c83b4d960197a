"""A page of batches in any order reads what it shows, however many there are."""

from dataclasses import replace
from itertools import product

import pytest

from plans.conftest import Analyse
from plans.table_reads import reads
from store.world import World
from weft.core.access.rights import UserRole
from weft.core.batch_order import BatchOrder, BatchPlace, BatchSort
from weft.ports.store import BatchQuery, QueryLimits
from weft.store.queries import batch_rows

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
N_BATCHES = 5000
LIMIT = 50
TABLES = ("batch", "group_completion", "group_count")


async def fill(world: World) -> None:
    """Add batches like one that has ended; every second one is not complete, or without a name."""
    world.has_made_up = True
    batch, _worker = await world.submit_and_run(1, name="first", limit=1)
    await world.fold()
    for table, columns in (
        ("batch", "batch_id, name, created_at"),
        ("group_count", "batch_id, complete"),
        ("group_completion", "batch_id, completed_at"),
    ):
        values = {
            "batch_id": "x.batch_id + n",
            "name": f"CASE WHEN n % 2 = 0 THEN 'n' || (n * 7919) % {N_BATCHES} END",
            "created_at": "x.created_at + n * interval '1 s'",
            "complete": "n % 2 = 0",
            "completed_at": f"x.completed_at + (n * 7919) % {N_BATCHES} * interval '1 s'",
        }
        names = await world.admin.fetchval(
            "SELECT string_agg(attname, ', ') FROM pg_attribute WHERE attnum > 0 "
            "AND NOT attisdropped AND attrelid = $1::text::regclass AND attname <> ALL ($2)",
            f"weft.{table}", columns.split(", "),
        )  # fmt: skip
        made = ", ".join(values[one] for one in columns.split(", "))
        await world.admin.execute(
            f"INSERT INTO weft.{table} ({columns}, {names}) "  # noqa: S608 (names of the catalog)
            f"OVERRIDING SYSTEM VALUE SELECT {made}, {names} "
            f"FROM weft.{table} x, generate_series(1, {N_BATCHES}) n WHERE x.batch_id = $1",
            batch,
        )


async def test_any_page_in_any_order_is_read_alone(own_world: World, analyse: Analyse) -> None:
    """By completion every second batch is passed over; deep pages cost what the first one does.
    A user who does not see the tenant finds the same batches twice: as own ones, and in a project.
    """
    await fill(own_world)
    await analyse()
    wrong = {}
    operator = replace(own_world.caller, role=UserRole.OPERATOR)
    for caller, times in ((operator, 2.5), (own_world.caller, 5)):
        for sort, reverse in product(BatchSort, (False, True)):
            after = None
            for depth in range(3):
                limit = LIMIT if depth != 1 else 1000
                wanted = BatchQuery(
                    order=BatchOrder(sort, reverse),
                    after=after,
                    limit=limit,
                    limits=QueryLimits(timeout_s=60, scan_jobs_max=10),
                )
                connection = await own_world.connect("weft_api")
                async with reads(connection, *TABLES) as found:
                    rows = await batch_rows(connection, caller, wanted)
                await connection.close()
                after = BatchPlace(rows[-1][1], rows[-1][0])
                read = {name: one.rows_scanned + one.rows_by_index for name, one in found.items()}
                assert len(rows) == limit
                is_scanned = any(one.scans for one in found.values())
                if max(read.values()) > times * limit or is_scanned:
                    wrong[caller.role, sort, reverse, depth] = read

    assert wrong == {}
