"""What queries read of a large batch: as much as a page holds, with statistics or without."""

import pytest

from builders import job_rows
from plans.conftest import Analyse
from plans.test_plans import Reads, reads
from store.world import World
from weft.core.query import Subject, parse_query
from weft.core.states import Reason
from weft.ports.store import JobQuery, JobRows, NewGroup, NewSet, QueryLimits
from weft.store.queries import job_ids

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
N_JOBS = 40_000
N_UPDATES = 200
LIMITS = QueryLimits(timeout_s=60, scan_jobs_max=10)
LIMIT = 50
TABLES = (
    "job", "attempt", "job_label", "job_array", "batch_update", "bunch", "bunch_count",
    "member_span", "group_ancestor", "ready_job", "runnable",
)  # fmt: skip
INDEXED = [
    ("", None, 50), ("job_id > 30000", None, 50), ("job_id > 30000 and job_id < 30010", None, 9),
    ("name = n7", None, 50), ("name = n7 or name = n8", None, 50),
    ("name = n7 and not state = failed", None, 50), ("state = failed", None, 10),
    ("state = bad and exit_code = 3", None, 10), ("exit_code > 2", None, 10),
    ("state = running", None, 50), ("state = ready", None, 50), ("", "/small", 10),
    ("", "/wide", 50), ("cohort = x", "/small", 0), ("", "chosen", 3), ("name = n7", "chosen", 0),
]  # fmt: skip
"""Query, group, and how many jobs a page has of it."""


def rows() -> JobRows:
    """Return 100 named jobs."""
    return job_rows(100, names={number: f"n{number % 10}" for number in range(1, 101)})


@pytest.fixture
async def large(own_world: World) -> tuple[World, int]:
    """Give a batch of many updates, some jobs of which ran and some of which failed."""
    groups = [
        NewGroup(group_id=1, parent_id=0, name="small"),
        NewGroup(group_id=2, parent_id=0, name="wide"),
        *[NewGroup(group_id=n, parent_id=2, name=f"n{n}") for n in range(3, 40)],
    ]
    batch = await own_world.submit(job_rows(10, group=1), groups=groups)
    await own_world.submit(
        job_rows(N_JOBS, group=[-(3 + n % 37) for n in range(N_JOBS)]), batch=batch
    )
    for _ in range(N_UPDATES):
        await own_world.submit(rows(), batch=batch)
    worker = await own_world.worker()
    for _ in range(10):
        claimed = await worker.claim(500)
        await worker.end(*claimed[1:])
        await worker.end(claimed[0], reason=Reason.EXIT, exit_code=3)
    await worker.claim(200)
    chosen, _ = await own_world.api.create_set(own_world.caller, batch, NewSet(name="chosen"))
    await own_world.api.add_members(own_world.caller, batch, chosen, [500, 20_000, 40_000])
    await own_world.fold()
    return own_world, batch


async def page(
    world: World, batch: int, text: str, group: str | None, after: int = 0
) -> tuple[int, dict[str, Reads]]:
    """Ask for a page on a fresh connection; return how many jobs it has, and what was read."""
    wanted = JobQuery(
        query=parse_query(text, Subject.JOBS), group=group, after=after, limit=LIMIT, limits=LIMITS
    )
    connection = await world.connect("weft_api")
    async with reads(connection, *TABLES) as found:
        numbers = await job_ids(connection, world.caller.tenant_id, batch, wanted)
    return len(numbers), found


async def test_indexed_terms_read_what_a_page_holds(
    large: tuple[World, int], analyse: Analyse
) -> None:
    world, batch = large
    await analyse()
    wrong = {}
    for text, group, n_jobs in INDEXED:
        found, read = await page(world, batch, text, group)
        scanned = [table for table, one in read.items() if one.scans]
        by_index = {table: one.rows_by_index for table, one in read.items() if one.rows_by_index}
        if found != n_jobs or scanned or max(by_index.values()) > 5_500:
            wrong[text, group] = (found, scanned, by_index)

    assert wrong == {}


async def test_any_page_is_read_alone(large: tuple[World, int]) -> None:
    """Where it begins costs nothing."""
    world, batch = large
    for text, group in (("", None), ("name = n7", None), ("", "/wide"), ("state = ready", None)):
        for after in (0, 10_000, 39_000, 55_000):
            _, read = await page(world, batch, text, group, after)
            assert read["job"].rows_by_index <= 110, (text, group, after)
            assert read["batch_update"].rows_by_index <= 110, (text, group, after)
