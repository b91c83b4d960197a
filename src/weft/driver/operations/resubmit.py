"""Make a batch from another one, some of its jobs at a time. It is there when all of them are."""

from datetime import UTC, datetime
from typing import Final

from weft.core.errors import NothingToResubmit
from weft.core.ids import BatchId, format_batch_id
from weft.driver.operations.copied_jobs import Page, rows_of
from weft.driver.operations.copied_specs import Keys, carrier_of, sign_copies
from weft.ports.store import JobRows, Operation, Resubmitted
from weft.store import DriverStore
from weft.wire.spec import decode_chunk, have_functions

STEP_JOBS: Final = 5_000
"""Jobs that are copied in one step: some tenths of a second."""


async def step(store: DriverStore, epoch: int, operation: Operation, keys: Keys) -> bool:
    """Copy what comes next; return False while an earlier operation may change what failed."""
    verdict = await store.step("copy_batch", epoch, operation.operation_id, limit=STEP_JOBS)
    if verdict == "empty":
        batch = format_batch_id(BatchId(operation.only_batch_id))
        raise NothingToResubmit(
            f"batch {batch} has nothing to resubmit",
            detail="What did not succeed in it was cancelled by a person.",
            hint=f"To run all its jobs once more, leave out --failed: `weft resubmit {batch}`.",
        )
    if verdict == "jobs":
        resubmitted = await store.list_resubmitted(
            epoch, operation.operation_id, after=operation.position, limit=STEP_JOBS
        )
        if resubmitted is not None:
            rows = await _rows(store, operation, resubmitted, keys)
            await store.add_resubmitted(
                epoch,
                operation.operation_id,
                after=operation.position,
                upto=resubmitted.upto,
                job_ids=[job["job_id"] for job in resubmitted.jobs],
                rows=rows,
            )
    return verdict != "waits"


async def _rows(
    store: DriverStore, operation: Operation, found: Resubmitted, keys: Keys
) -> JobRows | None:
    """Read the specs of these jobs and of their functions' carriers; return the copies' rows."""
    if not found.jobs:
        return None
    batch = operation.only_batch_id
    chunks = await store.read_chunks(batch, sorted({one["spec_first"] for one in found.jobs}))
    specs_of = {first: decode_chunk(body) for first, body in chunks.items()}
    specs = [specs_of[one["spec_first"]][one["job_id"] - one["spec_first"]] for one in found.jobs]
    wanted = {
        carrier
        for one, spec in zip(found.jobs, specs, strict=True)
        if (carrier := carrier_of(spec, one["job_id"])) is not None
    }
    missing = sorted(wanted - specs_of.keys())
    if missing:
        chunks = {**chunks, **await store.read_chunks(batch, missing)}
        specs_of |= {first: decode_chunk(chunks[first]) for first in missing if first in chunks}
    page = Page(
        jobs=found.jobs,
        specs=specs,
        chunks=chunks,
        carriers={one: specs_of[one][0] for one in wanted},
        changes=operation.arguments["changes"],
        now=datetime.now(UTC),
        first=found.first,
        at={one["job_id"]: n for n, one in enumerate(found.jobs)},
    )
    rows = rows_of(page)
    originals = [body for first, body in chunks.items() if have_functions(specs_of[first])]
    sign_copies(rows, originals, page.changes, keys)
    return rows
