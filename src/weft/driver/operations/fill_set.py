"""Fill a set with the jobs that a query matches, range by range of job numbers."""

import asyncio
import random
from typing import Final

from weft.core.query import Subject, parse_query
from weft.core.query.tree import Field, IntegerTerm, Operator, all_of
from weft.driver.operations.signed_copies import Keys
from weft.ports.store import JobQuery, Operation, QueryLimits
from weft.store import DriverStore

BUSY_S: Final = 0.02
STEP_MEMBERS: Final = 5_000
"""Jobs locked together in one step: some tens of milliseconds."""
STEP_NUMBERS: Final = 200_000
"""Job numbers examined in one step, if few of them match."""
STEP_LIMITS: Final = QueryLimits(timeout_s=60.0, scan_jobs_max=2_000_000_000)
"""No request waits for the answer, so every job may be examined."""


async def step(store: DriverStore, epoch: int, operation: Operation, _keys: Keys) -> bool:
    """Add the matching jobs of one range; the last step makes the set visible."""
    wanted = operation.arguments
    query = parse_query(wanted["query"], Subject.JOBS, chars_max=len(wanted["query"]))
    upto = min(operation.position + STEP_NUMBERS, operation.n_total)
    in_range = all_of((query, IntegerTerm(Field.JOB_ID, Operator.LE, upto)))
    asked = JobQuery(
        query=in_range, group=wanted["within_group"], after=operation.position,
        limit=STEP_MEMBERS, limits=STEP_LIMITS,
    )  # fmt: skip
    found = await store.matching_jobs(operation.tenant_id, operation.only_batch_id, asked)
    is_done = await store.fill_set(
        epoch,
        operation.operation_id,
        found,
        looked_upto=found[-1] if len(found) == STEP_MEMBERS else upto,
        sets_max=wanted["sets_max"],
    )
    if not is_done:
        await until_rows_are_free()
    return True


async def until_rows_are_free() -> None:
    """Wait a little: the other transaction, which held rows of this step, will soon end."""
    await asyncio.sleep(random.uniform(0, BUSY_S))  # noqa: S311 (jitter)
