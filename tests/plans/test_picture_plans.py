"""Pictures read a bounded number of rows, however large a batch is."""

import pytest

from builders import job_rows
from plans.table_reads import read_by_call
from store.world import Worker, World
from weft.core.states import Reason
from weft.ports.store import NewGroup

pytestmark = pytest.mark.slow
N_JOBS = 20_000
N_EDGES = N_JOBS - 1
TABLES = ("job", "attempt", "edge", "job_group", "group_ancestor", "bunch_count", "job_change")


async def test_few_rows_of_a_large_batch_are_read(own_world: World, worker: Worker) -> None:
    """Also of a job with many parents."""
    groups = [NewGroup(group_id=i, parent_id=0, name=f"g{i}") for i in range(1, 101)]
    parents = {i: [i // 2] for i in range(2, N_JOBS)} | {N_JOBS: list(range(1, N_JOBS, 2))}
    rows = job_rows(N_JOBS, group=[i % 101 for i in range(N_JOBS)], parents=parents)
    batch = await own_world.submit(rows, groups=groups)
    await worker.end(*await worker.claim(40), reason=Reason.EXIT)
    of = {"tenant_id": own_world.caller.tenant_id, "batch_id": batch}
    for function, arguments, rows_max in (
        ("list_edges", {"job_ids": list(range(N_JOBS - 999, N_JOBS + 1)), "limit_rows": 500}, 520),
        ("list_children", {"job_id": 7, "after": 0, "limit_rows": 9}, 40),
        ("list_parents", {"job_id": N_JOBS, "after": N_JOBS // 2, "limit_rows": 9}, 40),
        ("get_job", {"job_id": N_JOBS, "limit_parents": 10, "limit_counted": 50}, 70),
        ("list_group_edges", {"of_group_id": 0, "limit_rows": 200}, 1500),
        ("list_group_edges", {"of_group_id": 7, "limit_rows": 200}, 1500),
        ("sample_attempts", {"limit_jobs": 100}, 400),
        ("list_parent_groups", {"group_ids": [0, 1, 2]}, 20),
        ("list_sets", {"after": "", "limit_rows": 9}, 20),
    ):
        _, found = await read_by_call(own_world, "weft_api", TABLES, function, **of, **arguments)

        assert {table: one.scans for table, one in found.items() if one.scans} == {}, function
        assert sum(one.rows_by_index for one in found.values()) <= rows_max, function
