"""Do one thing to many batches, from the newest to the oldest: each is passed once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from weft.core.access.rights import Right, require
from weft.core.batch_actions import BatchAction, n_concerned
from weft.core.errors import EpochStale, Internal, RightMissing, Unavailable, WeftError
from weft.core.query import Subject, parse_query
from weft.core.query.tree import Field, IntegerTerm, Operator, all_of
from weft.driver.operations.copied_specs import Keys
from weft.driver.operations.one_batch import STEP_LIMITS
from weft.ports.store import BatchQuery, Caller, Operation
from weft.store import DriverStore

STEP_BATCHES: Final = 100
"""Batches of one step, each in a transaction of some milliseconds."""
STEP_NUMBERS: Final = 20_000
"""Batch numbers examined in one step, if few of them match."""


@dataclass(frozen=True)
class _Page:
    """The next batches, from the highest number to the lowest."""

    batch_ids: Sequence[int]
    idle: frozenset[int]
    """Those in which there is nothing to do."""
    down_to: int
    """All that match down to this number are among them."""


async def step(store: DriverStore, epoch: int, operation: Operation, _keys: Keys) -> bool:
    """Act on the next batches. What their user may not change now is skipped."""
    operation_id = operation.operation_id
    caller = await store.operation_caller(epoch, operation_id)
    if caller is None:
        raise RightMissing(
            "the user who asked for this was removed",
            detail="An operation on batches does what its user may do at that moment.",
            hint="Ask for it as another user.",
        )
    require(Right.WRITE, caller.user_name, caller.role)
    if operation.arguments.get("as_member"):
        # A user who became an operator since then was shown, and meant, their own batches.
        caller = replace(caller, as_member=True)
    page, n_idle = await _next_page(store, caller, operation), 0
    for batch_id in page.batch_ids:
        if batch_id in page.idle:
            n_idle += 1
            continue
        if not await _act(store, epoch, operation, caller, batch_id, n_idle):
            return (
                True  # it was cancelled, or the user has another role now: the next step sees it
            )
        n_idle = 0
    await store.pass_batches(epoch, operation_id, down_to=page.down_to, n_idle=n_idle)
    return True


async def _act(
    store: DriverStore,
    epoch: int,
    operation: Operation,
    caller: Caller,
    batch_id: int,
    n_idle: int,
) -> bool:
    """Act on a batch or skip it, and pass it; return False if nothing was passed."""
    try:
        return await store.act_on_batch(
            caller, epoch, operation.operation_id, batch_id, n_idle=n_idle
        )
    except (Unavailable, EpochStale, Internal):
        raise  # says nothing about the batch
    except WeftError as error:
        return await store.pass_batches(
            epoch, operation.operation_id, down_to=batch_id, n_idle=n_idle, skipped=error.code
        )


async def _next_page(store: DriverStore, caller: Caller, operation: Operation) -> _Page:
    wanted, below = operation.arguments, operation.n_total - operation.position + 1
    listed: Sequence[int] | None = wanted.get("batches")
    if listed is not None:
        left = sorted((one for one in listed if one < below), reverse=True)
        batch_ids, down_to = left[:STEP_BATCHES], 1
        rows = await store.read_batches(caller, batch_ids)
    else:
        down_to = max(below - STEP_NUMBERS, 1)
        rows = await store.find_batches(caller, page_query(wanted["query"], below, down_to))
        batch_ids = left = [int(row["id"]) for row in rows]
    if len(left) > len(batch_ids) or len(batch_ids) == STEP_BATCHES:
        down_to = batch_ids[-1]
    action = BatchAction(wanted["action"])
    idle = frozenset(int(row["id"]) for row in rows if not n_concerned(action, row))
    return _Page(batch_ids, idle, down_to)


def page_query(text: str, below: int, down_to: int) -> BatchQuery:
    """Return the query for the next page of those that match, below a number."""
    query = parse_query(text, Subject.BATCHES, chars_max=len(text))
    in_range = all_of((query, IntegerTerm(Field.BATCH_ID, Operator.GE, down_to)))
    return BatchQuery(
        query=in_range, before=below, is_short=True, limit=STEP_BATCHES, limits=STEP_LIMITS
    )
