"""Edit: a JSON merge patch of a batch, a group or a job."""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import UNSET

from weft.api.calls.call import call
from weft.api.calls.path_ids import BatchId, GroupId, JobId
from weft.api.services import Services
from weft.api.use_cases.read import get_job
from weft.core.access.rights import Right
from weft.core.errors import FieldError, InvalidValue
from weft.core.problems import Problems
from weft.ports.store import Caller, EditLimits, Origin, Patch
from weft.settings import Settings
from weft.submission.services import Answer
from weft.submission.translation.check import (
    check_attributes,
    check_name,
    check_removed,
    refuse_id,
)
from weft.submission.translation.groups import check_set_name
from weft.wire.answers.batches import Batch
from weft.wire.answers.groups import Group
from weft.wire.answers.jobs import JobDetail
from weft.wire.answers.operations import Operation
from weft.wire.documents.batches import EditDocument

ROOT_GROUP = 0


@call("PATCH /v1/batches/{b}", Right.WRITE, Batch, accepted=Operation, public=False, spread=False)
async def edit_batch(
    services: Services, caller: Caller, batch_id: BatchId, document: EditDocument, origin: Origin
) -> tuple[Answer, bool]:
    """Change the name and attributes of a batch by a JSON merge patch: null removes. With
    `priority` the answer is 202 and the operation that changes the jobs that have not ended.
    """
    patch = _patch(document, services.settings, is_batch=True)
    operation = await _edit_group(services, caller, batch_id, ROOT_GROUP, patch, origin)
    if operation is not None:
        return operation, True
    return dict(await services.store.get_batch(caller, batch_id)), False


@call(
    "PATCH /v1/batches/{b}/groups/{g}",
    Right.WRITE,
    Group,
    accepted=Operation,
    public=False,
    spread=False,
)
async def edit_group(
    services: Services,
    caller: Caller,
    batch_id: BatchId,
    group: GroupId,
    document: EditDocument,
    origin: Origin,
) -> tuple[Answer, bool]:
    """Change the name and attributes of a group by a JSON merge patch: null removes. A new name
    changes the paths of the groups below, too. With `priority` the answer is 202 and the operation
    that changes the jobs of the group, and of groups below it, that have not ended.
    """
    patch = _patch(document, services.settings)
    row = await services.store.get_group(caller, batch_id, group)
    group_id = int(row["group_id"])
    if group_id != ROOT_GROUP and "name" in patch:
        _check_group_name(patch["name"], services.settings, is_set=row["kind"] == "set")
    operation = await _edit_group(services, caller, batch_id, group_id, patch, origin)
    if operation is not None:
        return operation, True
    return dict(await services.store.get_group(caller, batch_id, group_id)), False


@call("PATCH /v1/batches/{b}/jobs/{j}", Right.WRITE, JobDetail, public=False, spread=False)
async def edit_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, document: EditDocument
) -> Answer:
    """Change the name, attributes and priority of a job by a JSON merge patch: null removes. The
    priority of an ended job cannot change; that of a running job applies to its next attempt.
    """
    patch = _patch(document, services.settings)
    with _pointing():
        await services.store.edit_job(
            caller, batch_id, job_id, patch=patch, limits=_limits(services.settings)
        )
    return await get_job(services, caller, batch_id, job_id)


async def _edit_group(
    services: Services, caller: Caller, batch_id: int, group_id: int, patch: Patch, origin: Origin
) -> Answer | None:
    """Edit; return the operation that applies a new priority to the jobs, if there is one."""
    store, limits = services.store, _limits(services.settings)
    with _pointing():
        if "priority" not in patch:
            await store.edit_group(caller, batch_id, group_id, patch=patch, limits=limits)
            return None
        operation_id = await store.prioritize_group(
            caller, batch_id, group_id, patch=patch, limits=limits, trace_id=origin.trace_id
        )
    return dict(await store.get_operation(caller, operation_id))


def _patch(document: EditDocument, settings: Settings, *, is_batch: bool = False) -> Patch:
    """Return what changes. Raise `InvalidDocument` for what is wrong in any case."""
    problems = Problems()
    patch: dict[str, object] = {}
    if document.name is not UNSET:
        patch["name"] = document.name
        check_name(document.name, settings, problems, "/name")
        if is_batch:
            refuse_id(document.name, problems)
    if document.attributes is not UNSET:
        patch["attributes"] = document.attributes
        given = document.attributes or {}
        kept = {key: value for key, value in given.items() if value is not None}
        check_attributes(kept, settings, problems, "/attributes")
        check_removed(given.keys() - kept.keys(), settings, problems, "/attributes")
    if document.priority is not UNSET:
        patch["priority"] = document.priority
    problems.raise_any()
    return patch


def _limits(settings: Settings) -> EditLimits:
    return EditLimits(
        attributes_max=settings.attributes_max, rename_groups_max=settings.rename_groups_max
    )


def _check_group_name(name: str | None, settings: Settings, *, is_set: bool) -> None:
    problems = Problems()
    if name is None:
        problems.add(InvalidValue, "/name", "a group needs a name")
    elif is_set:
        check_set_name(name, settings, problems, "/name")
    elif "/" in name:
        problems.add(InvalidValue, "/name", "a name cannot contain '/'")
    problems.raise_any()


@contextmanager
def _pointing() -> Iterator[None]:
    """Add the pointer to what only the database can refuse."""
    try:
        yield
    except InvalidValue as error:
        error.errors = (FieldError("/attributes", error.detail.rstrip(".")),)
        raise
