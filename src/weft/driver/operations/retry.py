"""Run failed jobs again, and what was cancelled because of them, range by range of numbers."""

from typing import Final

from weft.core.query import Subject, parse_query
from weft.core.query.tree import Field, IntegerTerm, Operator, all_of
from weft.driver.operations.fill_set import STEP_LIMITS, STEP_NUMBERS, until_rows_are_free
from weft.driver.operations.signed_copies import Keys
from weft.ports.store import JobQuery, Operation
from weft.store import DriverStore

STEP_JOBS: Final = 5_000
"""Jobs that run again in one step: some tens of milliseconds."""


async def step(store: DriverStore, epoch: int, operation: Operation, _keys: Keys) -> bool:
    """Run the next jobs again; return False while an earlier retry of the batch is running."""
    found, upto = None, None
    if operation.arguments.keys() & {"query", "within_group"}:
        found, upto = await _matching(store, operation)
    verdict = await store.retry_failed(
        epoch, operation.operation_id, matching=found, looked_upto=upto, limit=STEP_JOBS
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
        query=in_range, group=operation.arguments.get("within_group"), after=operation.position,
        limit=STEP_JOBS, limits=STEP_LIMITS,
    )  # fmt: skip
    found = list(await store.matching_jobs(operation.tenant_id, operation.only_batch_id, asked))
    return found, found[-1] if len(found) == STEP_JOBS else upto
