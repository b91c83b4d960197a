"""What may be used: limits of what runs, quotas of what there is at a time, licences."""

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
    LicenceName,
    ProjectName,
    TenantName,
    UserName,
)
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.billing.spending import Measure
from weft.core.bounds import INT_MAX
from weft.core.errors import (
    BadLicenceName,
    FieldError,
    InvalidValue,
    LicenceNotFound,
    SoftLimitAboveLimit,
)
from weft.core.ids import parse_batch_id
from weft.core.scheduling.offers import wrong_licence_name
from weft.ports.store import Caller, Row
from weft.ports.store.queries import Limited
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.answers.licences import Licence, LicenceRemoved
from weft.wire.documents.licences import LicenceDocument
from weft.wire.documents.limits import LimitEdit, UseLimit
from weft.wire.documents.quotas import Quota, QuotaEdit


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


@call("GET /v1/quotas", Right.READ, page=Quota)
async def list_quotas(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the quotas of the tenant and of users, with what they have of that: `kind, name,
    jobs, batches, cores, bytes, n_jobs, n_batches, n_cores, n_bytes`; to somebody who does not see
    the tenant's batches, their own.
    """
    return await services.store.list_quotas(caller)


@call("PATCH /v1/users/{user}/quota", Right.MANAGE, Quota, client="")
async def set_user_quota(
    services: Services, caller: Caller, user: UserName, edit: QuotaEdit
) -> Answer:
    """Change how much a user may have at a time. What is there stays."""
    return await set_quota(services, caller, user, edit)


@call("PATCH /v1/user-quota", Right.MANAGE, Quota, client="")
async def set_default_quota(services: Services, caller: Caller, edit: QuotaEdit) -> Answer:
    """Change how much each user may have at a time, unless their own quota says it."""
    return await set_quota(services, caller, None, edit)


async def set_quota(
    services: Services, caller: Caller, user: str | None, edit: QuotaEdit
) -> Answer:
    """Change the quota of a user, or of each; return its limits. Raise `UserNotFound`."""
    found = await services.store.set_quota(caller, user, msgspec.to_builtins(edit))
    return _told(caller, found)


@call("PATCH /v1/tenants/{tenant}/quota", Right.ADMINISTER, Quota, spread=False)
async def set_tenant_quota(
    services: Services, caller: Caller, tenant: TenantName, changes: QuotaEdit
) -> Answer:
    """Change how much all users of a tenant together may have at a time; return it. For
    administrators of the site. Raise `RightMissing`, `TenantNotFound`.
    """
    found = await services.store.set_tenant_quota(caller, tenant, msgspec.to_builtins(changes))
    return _told(caller, found)


def _told(caller: Caller, found: Row) -> Answer:
    log.info(
        "quota.set",
        kind=found["kind"],
        name=found["name"],
        jobs=found["jobs"],
        batches=found["batches"],
        cores=found["cores"],
        bytes=found["bytes"],
        by=caller.user_name,
    )
    return dict(found)


@call("GET /v1/licences", Right.READ, page=Licence)
async def list_licences(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the licences by name, and how many of each are used."""
    return await services.store.list_licences(caller)


@call("PUT /v1/licences/{l}", Right.ADMINISTER, Licence)
async def set_licence(
    services: Services, caller: Caller, name: LicenceName, document: LicenceDocument
) -> Answer:
    """Set how many licences jobs may use at a time, in all pools together; return it. Jobs that
    have one go on if there are fewer now. Only for administrators. Raise `BadLicenceName`.
    """
    if wrong := wrong_licence_name(name):
        raise BadLicenceName(
            "this cannot be the name of a licence", detail=wrong, hint="Choose another name."
        )
    await services.store.set_licence(caller, name, document.n)
    services.forget_licences()
    log.info("licence.set", licence=name, n=document.n, user=caller.user_name)
    return await get_licence(services, caller, name)


async def get_licence(services: Services, caller: Caller, name: str) -> Answer:
    """Return a licence. Raise `LicenceNotFound`."""
    for row in await services.store.list_licences(caller):
        if row["licence"] == name:
            return {**row}
    raise _not_found(name)


@call("DELETE /v1/licences/{l}", Right.ADMINISTER, LicenceRemoved, silent=True)
async def remove_licence(services: Services, caller: Caller, name: LicenceName) -> Answer:
    """Forget a licence; who waits for it waits on. For administrators. Raise `LicenceNotFound`."""
    if not await services.store.remove_licence(name):
        raise _not_found(name)
    services.forget_licences()
    log.info("licence.removed", licence=name, user=caller.user_name)
    return {"licence": name}


def _not_found(name: str) -> LicenceNotFound:
    return LicenceNotFound(
        f'licence "{name[:64]}" does not exist',
        detail="No licence of this name was set.",
        hint="List them with `weft licence ls`.",
    )
