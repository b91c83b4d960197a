"""Work on the jobs of one batch, range by range of their numbers: fill a set with those that a
query matches, run failed ones again with what was cancelled because of them, give a group a new
priority, and remove the rows of a deleted batch.
"""

import asyncio
import random
from typing import Final

from weft.core.query import Subject, parse_query
from weft.core.query.tree import Field, IntegerTerm, Operator, all_of
from weft.driver.operations.copied_specs import Keys
from weft.ports.store import JobQuery, Operation, QueryLimits
from weft.store import DriverStore

BUSY_S: Final = 0.02
STEP_MEMBERS: Final = 5_000
"""Jobs locked together in one step: some tens of milliseconds."""
STEP_NUMBERS: Final = 200_000
"""Job numbers examined in one step, if few of them match."""
STEP_LIMITS: Final = QueryLimits(timeout_s=60.0, scan_jobs_max=2_000_000_000)
"""No request waits for the answer, so every job may be examined."""


async def fill_set(store: DriverStore, epoch: int, operation: Operation, _keys: Keys) -> bool:
    """Add the matching jobs of one range; the last step makes the set visible."""
    wanted = operation.arguments
    query = parse_query(wanted["query"], Subject.JOBS, chars_max=len(wanted["query"]))
    upto = min(operation.position + STEP_NUMBERS, operation.n_total)
    in_range = all_of((query, IntegerTerm(Field.JOB_ID, Operator.LE, upto)))
    asked = JobQuery(
        query=in_range,
        group=wanted["within_group"],
        after=operation.position,
        limit=STEP_MEMBERS,
        limits=STEP_LIMITS,
    )
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


RETRY_JOBS: Final = 5_000
"""Jobs that run again in one step: some tens of milliseconds."""


async def retry(store: DriverStore, epoch: int, operation: Operation, _keys: Keys) -> bool:
    """Run the next jobs again; return False while an earlier retry of the batch is running."""
    found, upto = None, None
    if operation.arguments.keys() & {"query", "within_group"}:
        found, upto = await _matching(store, operation)
    verdict = await store.retry_failed(
        epoch, operation.operation_id, matching=found, looked_upto=upto, limit=RETRY_JOBS
    )
    if verdict == "busy":
        await until_rows_are_free()
    return verdict != "waits"


async def _matching(store: DriverStore, operation: Operation) -> tuple[list[int], int]:
    """Return the next jobs that match, and up to which number they are all."""
    text = operation.arguments.get("query", "")
    upto = min(operation.position + STEP_NUMBERS, operation.n_total)
    query = parse_query(text, Subject.JOBS, chars_max=len(text))
    in_range = all_of((query, IntegerTerm(Field.JOB_ID, Operator.LE, upto)))
    asked = JobQuery(
        query=in_range,
        group=operation.arguments.get("within_group"),
        after=operation.position,
        limit=RETRY_JOBS,
        limits=STEP_LIMITS,
    )
    found = list(await store.matching_jobs(operation.tenant_id, operation.only_batch_id, asked))
    return found, found[-1] if len(found) == RETRY_JOBS else upto


PRIORITY_JOBS: Final = 1_000
"""Jobs locked together in one step: some tens of milliseconds."""


async def set_priority(store: DriverStore, epoch: int, operation: Operation, _keys: Keys) -> bool:
    """Change the next jobs; return False while an earlier change of the batch is running."""
    verdict = await store.step(
        "set_priorities", epoch, operation.operation_id, limit=PRIORITY_JOBS
    )
    if verdict == "busy":
        await until_rows_are_free()
    return verdict != "waits"


STEP_ROWS: Final = 5_000
"""Rows per step: some ten milliseconds."""


async def delete_batch(store: DriverStore, epoch: int, operation: Operation, _keys: Keys) -> bool:
    """Remove some rows; return False while jobs of the batch still have to end."""
    verdict = await store.step("remove_batch", epoch, operation.operation_id, limit=STEP_ROWS)
    return verdict != "waits"
