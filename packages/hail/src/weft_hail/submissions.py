"""Submissions of Hail's client: what its requests mean, in calls of use cases."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

from weft.api.http.apart import apart
from weft.api.http.problem_documents import describe
from weft.api.http.requests import AnyRequest
from weft.api.use_cases import projects, read
from weft.core import errors
from weft.ports.store import Origin, Row
from weft.settings import Settings
from weft.submission import submit
from weft.submission.owners import require_owner
from weft.submission.services import Answer
from weft.submission.translation.context import refuse_too_many
from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.foreign_jobs import ForeignJob
from weft.wire.documents.groups import GroupDocument, GroupInBunch
from weft.wire.documents.jobs import JobDocument
from weft.wire.documents.updates import GroupBunch, JobBunch, UpdateDocument
from weft_hail.checks import Json
from weft_hail.files import MARKS
from weft_hail.jobs_from_hail import Bunch, jobs_of, present_form
from weft_hail.requests import (
    TOO_DEEP,
    Document,
    Refused,
    bad_request,
    decode_value,
    origin_of,
)
from weft_hail.resources import unsatisfiable
from weft_hail.shapes import BATCH, GROUP, UPDATE

LEVELS_MAX: Final = 2
"""Below the root."""
ROOT: Final = 0
Given = TypeVar("Given")
Found = TypeVar("Found")
OUT_OF_ORDER: Final = "job group specs were not submitted in order"


def specs_of(specs: Sequence[bytes], settings: Settings) -> list[Document]:
    """Return these specs, checked one by one. Raise `Refused`, `TooManyJobs`."""
    refuse_too_many("groups", len(specs), settings)
    found: list[Document] = []
    for index, raw in enumerate(specs):
        spec = decode_value(raw)
        name = f"job_groups[{index}]"
        GROUP(name, spec)
        if "in_update_parent_id" not in spec and "absolute_parent_id" not in spec:
            raise bad_request("job group must define in_update_parent_id or absolute_parent_id")
        if found and spec["job_group_id"] != (last := found[-1]["job_group_id"]) + 1:
            raise bad_request(
                f"noncontiguous job group ids found in the spec: {last} -> {spec['job_group_id']}"
            )
        found.append(spec)
    return found


def parent_of(spec: Document, first_group: int) -> int:
    """Return the number of a group's parent in its batch. Raise `Refused`."""
    if "absolute_parent_id" in spec:
        parent: int = spec["absolute_parent_id"]
    else:
        parent = first_group + spec["in_update_parent_id"] - 1
    if not ROOT <= parent < first_group + spec["job_group_id"] - 1:
        raise bad_request(OUT_OF_ORDER)
    return parent


def name_of(number: int) -> str:
    """Return the name of the group with this number in its batch."""
    return f"hail.{number}"


def whole_groups(specs: Sequence[Document]) -> tuple[list[GroupDocument], Mapping[int, str]]:
    """Return the groups of a batch that is being created, and the path of each number."""
    if specs and specs[0]["job_group_id"] != 1:
        raise bad_request(OUT_OF_ORDER)
    paths: dict[int, str] = {}
    documents: list[GroupDocument] = []
    for spec in specs:
        number, parent = spec["job_group_id"], parent_of(spec, 1)
        path = f"{paths.get(parent, '')}/{name_of(number)}"
        if path.count("/") > LEVELS_MAX:
            raise bad_request(TOO_DEEP)
        paths[number] = path
        documents.append(GroupDocument(path=path, **_fields(spec)))
    return documents, paths


def bunch_groups(specs: Sequence[Document], first_group: int) -> list[GroupInBunch]:
    """Return the groups of a bunch. How deep they are only the database can tell: their parents
    may have come in another bunch.
    """
    documents: list[GroupInBunch] = []
    for spec in specs:
        number, parent = first_group + spec["job_group_id"] - 1, parent_of(spec, first_group)
        relative = parent - first_group + 1 if parent >= first_group else -parent
        documents.append(GroupInBunch(name=name_of(number), parent=relative, **_fields(spec)))
    return documents


def _fields(spec: Document) -> Document:
    """Return what groups of both kinds share."""
    names = ("callback", "cancel_after_n_failures")
    return {"attributes": spec.get("attributes") or {}, **{name: spec.get(name) for name in names}}


FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
_AT_JOB: Final = re.compile(r"/jobs/([0-9]+)/resources")
_COUNTED: Final = re.compile(r"reserved ([0-9]+) (jobs|groups), ([0-9]+) were sent")
_TO_CANCELLED: Final = "Cannot submit new jobs or job groups to a cancelled batch"
FIRST: Final = 1
GROUPS_LOOKED_AT_MAX: Final = 100
"""Of the groups that a bunch of jobs names."""


@contextmanager
def refusing(
    texts: Mapping[type[errors.WeftError], str], jobs: Sequence[ForeignJob] = ()
) -> Iterator[None]:
    """Turn errors of these kinds into a 400 with their texts. `jobs`: what is submitted."""
    try:
        yield
    except errors.WeftError as error:
        if isinstance(error, errors.InvalidDocument):
            _refuse_size(error, jobs)
        for kind, text in texts.items():
            if isinstance(error, kind):
                raise bad_request(text) from error
        raise


def _refuse_size(error: errors.InvalidDocument, jobs: Sequence[ForeignJob]) -> None:
    """Raise that a job is too large, if that is what is wrong."""
    for one in error.errors if isinstance(error, errors.NoWorkerFits) else ():
        if match := _AT_JOB.match(one.pointer):
            spec = present_form(decode_value(jobs[int(match[1])].original or b"{}"), "job")
            raise unsatisfiable(spec, f"(batch, {spec['job_id']})") from error


async def create_batch(request: AnyRequest, spec: Document) -> Document:
    """Create a batch, and reserve the numbers of its first update if it announces any."""
    origin = await _checked_batch(request, spec)
    services, caller = request.services, request.caller
    n_jobs, n_groups = spec["n_jobs"], spec.get("n_job_groups", 0)
    with _project_of(spec):
        answer, is_new = await submit.create_batch(
            services, caller, BatchDocument(**_of_batch(spec)), origin
        )
    batch_id = answer["id"]
    found: Answer | None = None
    if not n_jobs and not n_groups:
        return {
            "id": batch_id,
            "update_id": None,
            "start_job_group_id": None,
            "start_job_id": None,
        }
    if not is_new:
        with suppress(errors.UpdateNotFound):
            found = await submit.get_update(services, caller, batch_id, FIRST)
    if found is None:
        document = UpdateDocument(n_jobs=n_jobs, n_groups=n_groups)
        found, _ = await submit.create_update(services, caller, batch_id, document, origin)
    return {"id": batch_id, **reserved(found)}


async def create_fast(request: AnyRequest, parts: Document) -> Document:
    """Create a batch with its first update, in one transaction."""
    spec = parts.get("batch")
    origin = await _checked_batch(request, spec)
    assert isinstance(spec, dict), "its shape was checked"
    services, caller = request.services, request.caller
    specs = await _apart(request, parts.get("job_groups", ()), specs_of, services.settings)
    groups, paths = whole_groups(specs)
    raw = parts.get("bunch", ())
    stores = await _stores_for(request, raw)
    bunch = Bunch(settings=services.settings, batch_id=None, path_by_group=paths, stores=stores)
    first, jobs = await _apart(request, raw, jobs_of, bunch)
    _check_counts(spec, jobs, groups, first)
    whole: list[JobDocument] = [*jobs]
    with refusing({}, jobs), _project_of(spec):
        document = BatchDocument(**_of_batch(spec), jobs=whole, groups=groups)
        answer, _ = await submit.create_batch(services, caller, document, origin)
    return {
        "id": answer["id"],
        "start_job_group_id": answer["first_group"] or FIRST,
        "start_job_id": answer["first_job"] or FIRST,
    }


async def create_update(request: AnyRequest, batch_id: int, spec: Json) -> Document:
    """Reserve the numbers of an update."""
    await own(request, batch_id)
    UPDATE("update", spec)
    document = UpdateDocument(n_jobs=spec["n_jobs"], n_groups=spec.get("n_job_groups", 0))
    with refusing({errors.BatchCancelled: _TO_CANCELLED}):
        found, _ = await submit.create_update(
            request.services,
            request.caller,
            batch_id,
            document,
            origin_of(request, spec["token"]),
        )
    return found


async def update_fast(request: AnyRequest, batch_id: int, parts: Document) -> Document:
    """Reserve an update, fill it and commit it. Each step may be repeated."""
    spec = parts.get("update")
    update = await create_update(request, batch_id, spec)
    if not update["committed"]:
        groups, jobs = parts.get("job_groups", ()), parts.get("bunch", ())
        if groups:
            await add_groups(request, update, groups)
        if jobs:
            await add_jobs(request, update, jobs)
        await commit(request, batch_id, update["update_id"])
    return reserved(update)


async def open_update(request: AnyRequest, batch_id: int, update_id: int) -> Answer:
    """Return an update of the caller's that is not committed. Raise `Refused`."""
    await own(request, batch_id)
    services, caller = request.services, request.caller
    reserved = await services.open_update(caller, batch_id, update_id)
    if reserved.committed:
        raise bad_request(f"update {update_id} is already committed")
    return {
        "batch_id": batch_id,
        "update_id": update_id,
        "first_job": reserved.first_job,
        "first_group": reserved.first_group,
        "n_jobs": reserved.n_jobs,
    }


async def add_groups(request: AnyRequest, update: Answer, raw: Sequence[bytes]) -> None:
    """Add a bunch of groups to an update."""
    services, caller = request.services, request.caller
    specs = await _apart(request, raw, specs_of, services.settings)
    if not specs:
        return
    batch_id, first_group = update["batch_id"], update["first_group"]
    first = specs[0]["job_group_id"]
    if first > FIRST:
        last = await services.store.last_group_of_update(caller, batch_id, update["update_id"])
        if first > last + 1:
            raise bad_request(OUT_OF_ORDER)
    for parent in sorted({parent_of(spec, first_group) for spec in specs}):
        if ROOT < parent < first_group:
            row = await read.get_group(services, caller, batch_id, parent)
            if row["cancelled"]:
                raise bad_request("job group parent has already been cancelled")
    document = GroupBunch(first=first, groups=bunch_groups(specs, first_group))
    with refusing({errors.UpdateCommitted: f"update {update['update_id']} is already committed"}):
        await submit.add_groups(
            services,
            caller,
            batch_id,
            update["update_id"],
            document,
            origin_of(request),
            depth_max=LEVELS_MAX,
        )


async def add_jobs(request: AnyRequest, update: Answer, raw: Sequence[bytes]) -> None:
    """Add a bunch of jobs to an update."""
    if not raw:
        return
    services, caller = request.services, request.caller
    batch_id, first_group = update["batch_id"], update["first_group"]
    bunch = Bunch(
        settings=services.settings,
        batch_id=batch_id,
        first_job=update["first_job"],
        first_group=first_group,
        stores=await _stores_for(request, raw),
    )
    first, jobs = await _apart(request, raw, jobs_of, bunch)
    if not 0 < first <= update["n_jobs"] or first + len(jobs) - 1 > update["n_jobs"]:
        raise bad_request(
            f"the update has {update['n_jobs']} jobs; the bunch has {first} to "
            f"{first + len(jobs) - 1}"
        )
    older = sorted({-job.group for job in jobs if isinstance(job.group, int)})
    for number in older[:GROUPS_LOOKED_AT_MAX]:  # the commit looks at all
        if number > ROOT:
            row = await read.get_group(services, caller, batch_id, number)
            if row["cancelled"]:
                raise bad_request(
                    f"bunch contains job where the job group has already been cancelled ({number})"
                )
    document = JobBunch(first=first, jobs=list(jobs))
    with refusing(
        {errors.UpdateCommitted: f"update {update['update_id']} is already committed"}, jobs
    ):
        await submit.add_jobs(
            services, caller, batch_id, update["update_id"], document, origin_of(request)
        )


async def _apart(
    request: AnyRequest,
    raw: Sequence[bytes],
    read: Callable[[Sequence[bytes], Given], Found],
    more: Given,
) -> Found:
    """Return what is read of specs, in a thread if they are large."""
    return await apart(sum(map(len, raw)), request.caller, read, raw, more)


async def _stores_for(request: AnyRequest, raw: Sequence[bytes]) -> Sequence[Row]:
    """Return the stores of the tenant, if jobs have files."""
    if not any(mark in one for one in raw for mark in MARKS):
        return ()
    return await request.services.store.list_stores(request.caller)


async def commit(request: AnyRequest, batch_id: int, update_id: int) -> Document:
    """Commit an update."""
    try:
        found = await submit.commit_update(request.services, request.caller, batch_id, update_id)
    except errors.UpdateIncomplete as error:
        if counted := _COUNTED.search(error.detail):
            kind = "job groups" if counted[2] == "groups" else "jobs"
            raise bad_request(
                f"wrong number of {kind}: expected {counted[1]}, actual {counted[3]}"
            ) from error
        raise bad_request(describe(error)) from error
    except errors.BatchCancelled as error:
        raise bad_request("Cannot commit an update to a cancelled batch") from error
    return {name: value for name, value in reserved(found).items() if name != "update_id"}


async def own(request: AnyRequest, batch_id: int) -> None:
    """Raise a 404 unless the caller made the batch."""
    try:
        await require_owner(
            request.services, request.caller, batch_id, "submit", because=".", hint=""
        )
    except (errors.Forbidden, errors.NotFound) as error:
        raise Refused(NOT_FOUND, f"batch {batch_id} does not exist") from error


async def _checked_batch(request: AnyRequest, spec: Json) -> Origin:
    """Check the spec of a batch and its project's limit."""
    BATCH("batch", spec)
    name = spec["billing_project"]
    if "\0" in name:
        raise _unknown_project(name)
    with _project_of(spec):
        project = await projects.get_project(request.services, request.caller, name)
    if project["name"] != name:
        raise _unknown_project(name)
    limit = project["cost_max"]
    is_reached = project["limit_state"] in {"paused", "cancelled"}  # before it costs as much
    if is_reached or (limit is not None and project["cost"] >= limit):
        raise Refused(
            FORBIDDEN,
            f"billing project {name} has exceeded the budget; accrued={project['cost']} "
            f"limit={limit}",
        )
    return origin_of(request, spec["token"])


@contextmanager
def _project_of(spec: Document) -> Iterator[None]:
    name = spec["billing_project"]
    try:
        yield
    except errors.ProjectNotFound as error:
        raise _unknown_project(name) from error
    except errors.ProjectClosed as error:
        raise Refused(FORBIDDEN, f"Billing project {name} is closed or deleted.") from error
    except errors.BillingLimitReached as error:
        raise Refused(FORBIDDEN, f"billing project {name} has exceeded the budget") from error


def _unknown_project(name: str) -> Refused:
    return Refused(FORBIDDEN, f"Unknown Hail Batch billing project {name}.")


def _of_batch(spec: Document) -> dict[str, Any]:
    """Return the fields of a batch."""
    return {
        "billing_project": spec["billing_project"],
        "attributes": spec.get("attributes") or {},
        "callback": spec.get("callback"),
        "cancel_after_n_failures": spec.get("cancel_after_n_failures"),
    }


def _check_counts(
    spec: Document, jobs: Sequence[ForeignJob], groups: Sequence[Any], first: int
) -> None:
    n_jobs, n_groups = spec["n_jobs"], spec.get("n_job_groups", 0)
    if n_groups != len(groups):
        raise bad_request(f"wrong number of job groups: expected {n_groups}, actual {len(groups)}")
    if n_jobs != len(jobs):
        raise bad_request(f"wrong number of jobs: expected {n_jobs}, actual {len(jobs)}")
    if jobs and first != FIRST:
        raise bad_request(f"noncontiguous job ids found in the spec: 0 -> {first}")


def reserved(update: Answer) -> Document:
    """Return which numbers an update has."""
    return {
        "update_id": update["update_id"],
        "start_job_group_id": update["first_group"],
        "start_job_id": update["first_job"],
    }
