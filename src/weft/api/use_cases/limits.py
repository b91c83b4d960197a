"""Limits of what is used."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import UNSET

from weft.api.calls.call import Cursor, Word, call
from weft.api.calls.path_ids import (
    BatchId,
    GroupId,
    ProjectName,
    UserName,
)
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.billing.spending import Measure
from weft.core.bounds import INT_MAX
from weft.core.errors import (
    FieldError,
    InvalidValue,
    SoftLimitAboveLimit,
)
from weft.core.ids import parse_batch_id
from weft.ports.store import Caller, Row
from weft.ports.store.queries import Limited
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.documents.limits import LimitEdit, UseLimit


@call("GET /v1/limits", Right.READ, page=UseLimit, cursor=Cursor("limit", "id", INT_MAX))
async def list_limits(
    services: Services,
    caller: Caller,
    batch_id: Annotated[int | None, Word("batch", parse_batch_id)],
    *,
    after: int,
    limit: int,
) -> Sequence[Row]:
    """Return limits, what was used of them, and when they are reached; to somebody who does not
    see the tenant's batches, their own, those of their billing projects and of batches that they
    see. `batch`: only those of this batch, its groups, its billing project and its user.
    """
    return await services.store.list_limits(caller, batch_id, after=after, limit=limit)


@call("PATCH /v1/billing-projects/{p}/limit", Right.MANAGE, UseLimit, client="")
async def set_project_limit(
    services: Services, caller: Caller, project: ProjectName, edit: LimitEdit
) -> Answer:
    """Change how much the batches of a billing project may use together."""
    return await set_limit(services, caller, Limited("project", project), edit)


@call("PATCH /v1/users/{user}/limit", Right.MANAGE, UseLimit, client="")
async def set_user_limit(
    services: Services, caller: Caller, user: UserName, edit: LimitEdit
) -> Answer:
    """Change how much the batches of a user may use together, whoever pays."""
    return await set_limit(services, caller, Limited("user", user), edit)


@call("PATCH /v1/batches/{b}/limit", Right.WRITE, UseLimit, client="")
async def set_batch_limit(
    services: Services, caller: Caller, batch_id: BatchId, edit: LimitEdit
) -> Answer:
    """Change how much a batch may use."""
    return await set_limit(services, caller, Limited("group", None, batch_id), edit)


@call("PATCH /v1/batches/{b}/groups/{g}/limit", Right.WRITE, UseLimit, client="")
async def set_group_limit(
    services: Services, caller: Caller, batch_id: BatchId, group: GroupId, edit: LimitEdit
) -> Answer:
    """Change how much the jobs of a group may use, with those of groups below it."""
    return await set_limit(services, caller, Limited("group", None, batch_id, group), edit)


async def set_limit(services: Services, caller: Caller, of: Limited, edit: LimitEdit) -> Answer:
    """Change a limit; return it. Raise `ProjectNotFound`, `UserNotFound`, `BatchNotFound`,
    `GroupNotFound`, `SoftLimitAboveLimit`.
    """
    if edit.until is not UNSET:
        check_coming(edit.until)
    patch = msgspec.to_builtins(edit)
    measure = Measure(patch.pop("measure"))
    with pointing_to_limits(patch, "amount_max", "amount_soft_max"):
        found = await services.store.set_limit(caller, of, measure, patch)
    log.info(
        "limit.set",
        kind=found["kind"],
        name=found["project"] or found["user"] or f"b{found['batch_id']}",
        measure=found["measure"],
        amount_max=found["amount_max"],
        amount_soft_max=found["amount_soft_max"],
        by=caller.user_name,
    )
    return dict(found)


def check_coming(until: datetime | None) -> None:
    """Refuse an end that has passed. Raise `InvalidValue`."""
    if until is not None and until <= datetime.now(UTC):
        raise InvalidValue.of([FieldError("/until", "it has passed")])


@contextmanager
def pointing_to_limits(given: Collection[str], limit: str, soft_limit: str) -> Iterator[None]:
    """Add a pointer to `SoftLimitAboveLimit`: the other field may have been set before."""
    try:
        yield
    except SoftLimitAboveLimit as error:
        before = "" if {limit, soft_limit} <= set(given) else " that was set before"
        if soft_limit in given:
            one = FieldError(f"/{soft_limit}", f"it is above the limit{before}")
        else:
            one = FieldError(f"/{limit}", f"it is below the soft limit{before}")
        error.errors = (one,)
        raise
