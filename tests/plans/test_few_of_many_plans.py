"""Sorted pages of batches, and pages of operations, read what they show, also for one who sees few
of very many.
"""

from typing import Any

import pytest

from plans.conftest import Analyse
from plans.table_reads import read_by_call, reads
from plans.test_name_plans import fill
from store.grants import grant, leave, project_of
from store.world import World
from weft.core.access.rights import Permission
from weft.core.batch_order import BatchOrder, BatchPlace, BatchSort
from weft.core.query import Subject, parse_query
from weft.ports.store import BatchQuery, Caller, QueryLimits
from weft.store.queries import batch_rows

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
LIMIT = 5
SHARE = 500
"""One batch in this number is the user's own, one is of their project, one was granted."""
N_OPERATIONS = 20_000
BATCH_TABLES = ("batch", "group_completion", "group_count", "batch_grant", "billing_member")
OPERATION_TABLES = ("batch", "operation", "batch_grant", "billing_member")
_SHARE_OUT = """
    WITH his AS (
        UPDATE weft.batch SET user_id = CASE WHEN batch_id % $1 = 11 THEN $2 ELSE user_id END,
            project_id = CASE WHEN batch_id % $1 = 13 THEN $3 ELSE project_id END
        WHERE batch_id % $1 IN (11, 13) RETURNING batch_id, user_id, project_id)
    UPDATE weft.group_completion c SET owner_id = h.user_id, project_id = h.project_id
    FROM his h WHERE h.batch_id = c.batch_id
"""
_OPERATIONS = """
    INSERT INTO weft.operation (tenant_id, user_id, batch_id, kind, created_at)
    SELECT $1, $2, $3::bigint + n % $4, 'retry', now() FROM generate_series(1, $5::int) n
"""
_EXPECTED = """
    SELECT b.batch_id FROM weft.batch b
    LEFT JOIN weft.group_count k ON k.batch_id = b.batch_id AND k.group_id = 0 AND k.complete
    LEFT JOIN weft.group_completion o ON o.batch_id = k.batch_id AND o.group_id = 0
        AND o.completion = k.n_completions
    WHERE b.batch_id % $1 IN (11, 13, 15) AND {key} IS NOT NULL
    ORDER BY {key} {way}, b.batch_id {way}
"""
_KEYS = {
    BatchSort.NUMBER: "b.batch_id",
    BatchSort.NAME: "b.name",
    BatchSort.CREATED: "b.created_at",
    BatchSort.COMPLETED: "o.completed_at",
}


async def share_out(world: World) -> Caller:
    """Let a user see few of many batches, by each way in which one may see them."""
    await fill(world)
    bob = await leave(world, await world.user("bob"))
    project = await project_of(world, "p", bob)
    await world.admin.execute(_SHARE_OUT, SHARE, bob.user_id, project)
    rows = await world.admin.fetch(
        "SELECT batch_id FROM weft.batch WHERE batch_id % $1 = 15", SHARE
    )
    for row in rows:
        await grant(world, bob, row[0], Permission.READ)
    return bob


def wanted_of(order: BatchOrder | None, **more: Any) -> BatchQuery:  # noqa: ANN401 (its fields)
    limits = QueryLimits(timeout_s=60, scan_jobs_max=10)
    return BatchQuery(order=order, limit=LIMIT, limits=limits, **more)


async def read_page(
    world: World, caller: Caller, wanted: BatchQuery
) -> tuple[list[Any], dict[str, int]]:
    """Return the rows of a page, and of which table it read how many."""
    connection = await world.connect("weft_api")
    async with reads(connection, *BATCH_TABLES) as found:
        rows = await batch_rows(connection, caller, wanted)
    scanned = {f"{name}, whole": one.rows_scanned for name, one in found.items() if one.scans}
    return list(rows), {**{name: one.rows_by_index for name, one in found.items()}, **scanned}


async def test_sorted_pages_of_who_sees_few_batches(own_world: World, analyse: Analyse) -> None:
    """All pages of every order are right, and none reads more than a few of each source."""
    bob = await share_out(own_world)
    await analyse()
    wrong: dict[object, object] = {}
    for sort in BatchSort:
        for reverse in (False, True):
            order, after, seen = BatchOrder(sort, reverse), None, list[int]()
            while True:
                rows, read = await read_page(own_world, bob, wanted_of(order, after=after))
                if max(read.values()) > 40 or any("whole" in name for name in read):
                    wrong[sort, reverse, len(seen)] = read
                seen += [row[0] for row in rows]
                if len(rows) < LIMIT:
                    break
                after = BatchPlace(rows[-1][1], rows[-1][0])
            way = "DESC" if order.is_descending else "ASC"
            expected = await own_world.admin.fetch(
                _EXPECTED.format(key=_KEYS[sort], way=way), SHARE
            )
            assert len(seen) > 2 * LIMIT
            assert seen == [row[0] for row in expected], (sort, reverse)
    for text, n_found in (("state = success", LIMIT), ("name =~ nobody", 0)):
        query = parse_query(text, Subject.BATCHES, chars_max=99)
        rows, read = await read_page(own_world, bob, wanted_of(None, query=query))
        assert len(rows) == n_found
        if max(read.values()) > 40 or any("whole" in name for name in read):
            wrong[text] = read

    assert wrong == {}


async def test_page_of_who_sees_few_operations(own_world: World, analyse: Analyse) -> None:
    bob = await share_out(own_world)
    ours = await own_world.admin.fetch(
        "SELECT min(batch_id) FROM weft.batch WHERE batch_id % $1 IN (11, 13, 15) "
        "GROUP BY batch_id % $1",
        SHARE,
    )
    expected = [
        await own_world.admin.fetchval(
            "INSERT INTO weft.operation (tenant_id, user_id, batch_id, kind, created_at) "
            "VALUES ($1, $2, $3, 'retry', now()) RETURNING operation_id",
            bob.tenant_id,
            bob.user_id if batch is None else own_world.caller.user_id,
            batch,
        )
        for batch in (None, *(row[0] for row in ours))
    ]
    # What follows is on one batch, and on others that are not bob's.
    other = await own_world.admin.fetchval(
        "SELECT min(batch_id) FROM weft.batch WHERE batch_id % $1 = 16", SHARE
    )
    for caller in (own_world.caller, bob):
        await own_world.admin.execute(
            _OPERATIONS, bob.tenant_id, caller.user_id, other, SHARE - 10, N_OPERATIONS // 2
        )
    await analyse()
    wrong = {}
    for name, caller, batch, n_found, most in (
        ("few", bob, None, len(expected), 30),
        ("many", own_world.caller, None, 50, 300),
        ("one batch", own_world.caller, other + 1, 20, 200),
    ):
        rows, found = await read_by_call(
            own_world,
            "weft_api",
            OPERATION_TABLES,
            "list_operations",
            caller=caller,
            before=None,
            limit_rows=50,
            of_batch_id=batch,
        )
        ids = [row[0]["id"] for row in rows]
        assert len(ids) >= n_found, name
        assert caller is not bob or ids == expected[::-1]
        read = {table: one.rows_by_index + one.rows_scanned for table, one in found.items()}
        if max(read.values()) > most or any(one.scans for one in found.values()):
            wrong[name] = read

    assert wrong == {}
