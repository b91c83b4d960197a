"""Lists of the jobs of a door read about what they show, however many jobs have come by doors: by
an application or an end that none has, in some states, and in the order of their changes.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plans.conftest import Analyse
from plans.table_reads import Reads, read_by_call, reads
from store.world import World
from weft.core.access.rights import UserRole
from weft.core.query.tree import DoorTerm
from weft.core.states import JobState, Reason
from weft.ports.store import Caller, ForeignJobs, ForeignOrder, QueryLimits
from weft.ports.store.offers import DoorJobQuery, Span
from weft.store.foreign_jobs import ids_of_door_jobs

pytestmark = pytest.mark.slow
N = 5000
PAGE = 20
ID = "x.batch_id + 4 * n - 1"  # others come in between
MADE = {
    "batch": {"batch_id": ID, "foreign_id": "'f' || n", "foreign_kind": "'often'"},
    "job": {"batch_id": ID},
    "group_count": {"batch_id": ID},
    "group_completion": {"batch_id": ID, "completed_at": "x.completed_at + n * interval '1 s'"},
    "foreign_state": {"batch_id": ID, "changed_at": "x.changed_at + n * interval '1 s'"},
}
TABLES = (*MADE, "foreign_count")
LIMITS = QueryLimits(timeout_s=60, scan_jobs_max=10)


async def fill(world: World) -> None:
    """Add jobs of a door like one that has ended well; the first has failed."""
    world.has_made_up, batch = True, 0
    for name in ("bad", "good"):
        batch = await world.submit(
            1, door="d", foreign_id=name, foreign_kind=name, foreign_document={"name": name}
        )
        worker = await world.worker(name)
        await worker.run(1, reason=Reason.EXIT if name == "bad" else None)
        await world.fold()
    for table, made in MADE.items():
        columns = await world.admin.fetch(
            "SELECT attname FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped "
            "AND attrelid = $1::text::regclass",
            f"weft.{table}",
        )
        names = [row[0] for row in columns]
        values = ", ".join(made.get(name, f"x.{name}") for name in names)
        await world.admin.execute(
            f"INSERT INTO weft.{table} ({', '.join(names)}) "  # noqa: S608 (names of the catalog)
            f"OVERRIDING SYSTEM VALUE SELECT {values} "
            f"FROM weft.{table} x, generate_series(1, {N}) n WHERE x.batch_id = $1",
            batch,
        )


SEARCH = DoorJobQuery(door="d", limit=PAGE, limits=LIMITS)
BEFORE, AFTER = datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC) + timedelta(days=9)
ENDED = (
    "(SELECT e.ended_at FROM weft.attempt e WHERE e.batch_id = b.batch_id) {} {{0}}::timestamptz"
)
SEARCHES = {
    "an application that none runs": replace(SEARCH, kind="rare"),
    "an application that one runs": replace(SEARCH, kind="bad"),
    "an application that nearly all run": replace(SEARCH, kind="often"),
    "an application and a name": replace(SEARCH, kind="bad", name="x"),
    "before all have ended": replace(
        SEARCH, ended=Span(None, BEFORE), query=DoorTerm(ENDED.format("<"), (BEFORE.isoformat(),))
    ),
    "after all have ended": replace(
        SEARCH, ended=Span(AFTER, None), query=DoorTerm(ENDED.format(">"), (AFTER.isoformat(),))
    ),
    **{
        f"in state {state:d}": replace(
            SEARCH, ended=Span(None, None, [state]), query=DoorTerm(f"j.state = {state:d}")
        )
        for state in (JobState.RUNNING, JobState.CANCELLED, JobState.FAILED)
    },
}
FAILED, ENDS = [JobState.FAILED], [JobState.SUCCESS]
LISTS = {
    "the newest": ForeignJobs(door="d", limit=PAGE),
    "changed last": ForeignJobs(door="d", limit=PAGE, order=ForeignOrder.CHANGED_LAST),
    "changed first": ForeignJobs(door="d", limit=PAGE, order=ForeignOrder.CHANGED_FIRST),
    "waiting": ForeignJobs(door="d", limit=PAGE, states=[JobState.READY]),
    "failed": ForeignJobs(door="d", limit=PAGE, states=FAILED, order=ForeignOrder.CHANGED_LAST),
    "ended well": ForeignJobs(door="d", limit=PAGE, states=ENDS, order=ForeignOrder.CHANGED_FIRST),
    "of another door": ForeignJobs(door="e", limit=PAGE, order=ForeignOrder.CHANGED_FIRST),
}
FOUND = {
    "an application that one runs": 1,
    "an application that nearly all run": PAGE,
    "in state 7": 1,
}
TOTALS = {"waiting": 0, "failed": 1, "ended well": N + 1, "of another door": 0}


def too_many(found: dict[str, Reads], most: int) -> dict[str, Reads]:
    """Return the tables of which more was read, or all."""
    return {table: one for table, one in found.items() if one.scans or one.rows_by_index > most}


_OPEN_AGAIN = """
    UPDATE weft.foreign_state SET state = 1 WHERE batch_id > {0};
    SET session_replication_role = replica;
    UPDATE weft.group_count SET complete = false WHERE batch_id > {0};
    UPDATE weft.job SET state = 1, attempt = 0 WHERE batch_id > {0}"""


async def read_by_list(
    world: World, caller: Caller, listed: ForeignJobs
) -> tuple[dict[str, Any], dict[str, Reads]]:
    """Return the first page of a list, and what was read for it."""
    (row,), read = await read_by_call(
        world,
        "weft_api",
        TABLES,
        "list_foreign_jobs",
        caller=caller,
        door=listed.door,
        foreign_id=None,
        states=listed.states,
        ordering=listed.order.value,
        first_row=0,
        limit_rows=PAGE,
    )
    return row[0], read


async def read_beside_open_ones(world: World) -> dict[str, dict[str, Reads]]:
    """Return too many reads of lists beside many jobs that have not ended."""
    middle = await world.admin.fetchval("SELECT max(batch_id) FROM weft.batch") - 2 * N
    await world.admin.execute(_OPEN_AGAIN.format(middle))
    wrong = {}
    totals = {"waiting": N // 2, "failed": 1, "ended well": N // 2 + 1, "of another door": 0}
    for name, listed in LISTS.items():
        page, read = await read_by_list(world, world.caller, listed)
        assert page["total"] == totals.get(name, N + 2), name
        assert len(page["jobs"]) == min(PAGE, page["total"]), name
        wrong[f"{name}, beside open ones"] = too_many(read, 8 * PAGE)
    return wrong


@pytest.mark.heavy
async def test_searches_and_lists_of_a_door_read_few_jobs(
    own_world: World, analyse: Analyse
) -> None:
    """For an operator, who sees all of the tenant, and for a user."""
    await fill(own_world)
    await own_world.admin.execute("VACUUM")
    await analyse()
    wrong: dict[str, dict[str, Reads]] = {}
    found = {}
    for name, wanted in SEARCHES.items():
        connection = await own_world.connect("weft_api")
        async with reads(connection, *TABLES) as read:
            found[name] = len(await ids_of_door_jobs(connection, own_world.caller, wanted))
        wrong[name] = too_many(read, 3 * PAGE)
    callers: list[Caller] = [own_world.caller, replace(own_world.caller, role=UserRole.OPERATOR)]
    for caller in callers:
        for name, listed in LISTS.items():
            page, read = await read_by_list(own_world, caller, listed)
            assert page["total"] == TOTALS.get(name, N + 2), name
            assert len(page["jobs"]) == min(PAGE, page["total"]), name
            wrong[f"{name}, {caller.role}"] = too_many(read, 8 * PAGE)

    wrong |= await read_beside_open_ones(own_world)
    assert found == {name: FOUND.get(name, 0) for name in SEARCHES}
    assert {name: read for name, read in wrong.items() if read} == {}
