"""Filling a set with what a query finds, range by range of job numbers: each step is short."""

import asyncio
import random
from typing import Final

from weft.core.query import Subject, parse_query
from weft.core.query.tree import Field, IntegerTerm, Operator, all_of
from weft.ports.store import JobQuery, Operation, QueryLimits
from weft.store.database import Database
from weft.store.queries import job_ids, read_within

STEP_MEMBERS: Final = 5_000
"""Jobs of one step are locked together: some tens of milliseconds."""
STEP_NUMBERS: Final = 200_000
"""Numbers that one step looks at, if few of them match."""
STEP_LIMITS: Final = QueryLimits(timeout_s=60.0, scan_jobs_max=2_000_000_000)
"""Nobody waits for the answer, so every job may be asked."""
BUSY_S: Final = 0.02
"""Somebody had rows of the step: a call later they are free."""


async def fill_set(database: Database, epoch: int, operation: Operation) -> bool:
    """Add the matching jobs of one range; the last one shows the set."""
    wanted = operation.arguments
    query = parse_query(wanted["query"], Subject.JOBS, chars_max=len(wanted["query"]))
    upto = min(operation.position + STEP_NUMBERS, operation.n_total)
    in_range = all_of((query, IntegerTerm(Field.JOB_ID, Operator.LE, upto)))
    asked = JobQuery(
        query=in_range, group=wanted["within_group"], after=operation.position,
        limit=STEP_MEMBERS, limits=STEP_LIMITS,
    )  # fmt: skip
    found = await read_within(
        database,
        STEP_LIMITS,
        lambda connection: job_ids(connection, operation.tenant_id, operation.batch_id, asked),
    )
    is_done = await database.value(
        "fill_set",
        epoch=epoch,
        of_operation_id=operation.operation_id,
        job_ids=found,
        looked_upto=found[-1] if len(found) == STEP_MEMBERS else upto,
        sets_max=wanted["sets_max"],
    )
    if not is_done:
        await asyncio.sleep(random.uniform(0, BUSY_S))  # noqa: S311 (jitter)
    return True
