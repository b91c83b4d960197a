"""Submit: create batches, updates, and bunches of groups and jobs."""

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from weft.core.alike import alike
from weft.core.errors import (
    FieldError,
    GroupExists,
    GroupNotFound,
    InvalidValue,
    NoWorkerFits,
    ParentNotFound,
    ProjectNotFound,
    QueueFull,
    QuotaExceeded,
)
from weft.core.graph.group_tree import find_paths, plan_groups, plan_sets
from weft.core.problems import PROBLEMS_MAX, Problems, pointing
from weft.faults import fault_point
from weft.ports.store import Caller, JobRows, NewBatch, NewGroup, Origin, Reserved, Row, Shape
from weft.settings import Settings
from weft.submission.apps import fill_app_fields
from weft.submission.owners import check_allowed, check_secrets, check_stores, sign_functions
from weft.submission.payloads import check_functions
from weft.submission.routing import count_failures, find_router, routed_later
from weft.submission.services import Answer, Draft, SubmissionServices
from weft.submission.translation import check
from weft.submission.translation.bunch_difference import JOBS_MAX, refuse_if_different, spec_fields
from weft.submission.translation.context import (
    DocumentContext,
    refuse_too_large_arrays,
    refuse_too_many,
)
from weft.submission.translation.fields import are_ordinary
from weft.submission.translation.gates import batch_gates
from weft.submission.translation.groups import (
    bunch_rows,
    check_callback,
    declared_again,
    named_groups,
    planned_rows,
)
from weft.submission.translation.jobs import THREAD_VALUES, Translated, translate_apart
from weft.submission.waits import check_forms
from weft.telemetry.metrics import JOBS_SUBMITTED, NO_DOOR, QUEUES_FULL, QUOTAS_EXCEEDED
from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.groups import GroupDocument
from weft.wire.documents.jobs import JobDocument
from weft.wire.documents.updates import GroupBunch, JobBunch, UpdateDocument

_after_commit = fault_point("api.after_commit")
CHECKS: Final = (check_functions, check_secrets, check_stores, check_allowed, check_forms)
"""What is asked of jobs that may have what few jobs have, in this order."""


async def create_batch(
    services: SubmissionServices, caller: Caller, document: BatchDocument, origin: Origin
) -> tuple[Answer, bool]:
    """Create a batch. Its groups and jobs are created and committed in the same transaction."""
    problems = Problems()
    new = _new_batch(document, services.settings, origin, problems)
    if document.jobs or document.groups:
        return await _submit(services, caller, new, document, origin, problems)
    problems.raise_any()
    with _pointing(document.jobs):
        batch_id, is_new = await services.store.create_batch(caller, new, origin)
    answer: Answer = {
        "id": batch_id,
        "batch_id": batch_id,
        "update_id": None,
        "first_job": None,
        "first_group": None,
        "n_jobs": 0,
        "n_groups": 0,
        "committed": True,
        **await _first_answer(services, caller, new, batch_id, origin, is_new=is_new),
    }
    return answer, is_new


async def check_batch(
    services: SubmissionServices, caller: Caller, document: BatchDocument, origin: Origin
) -> Shape | None:
    """Raise what `create_batch` would, as far as that is known before something is created; return
    what the first of its jobs asks for, None: it has no jobs.
    """
    problems = Problems()
    new = _new_batch(document, services.settings, origin, problems)
    prepared = await _prepare(services, caller, new, document, origin, problems)
    if prepared.translated is None:
        return None
    return prepared.translated.rows.shapes[0]


def _new_batch(
    document: BatchDocument, settings: Settings, origin: Origin, problems: Problems
) -> NewBatch:
    for field in ("name", "billing_project", "lifecycle"):
        check.check_name(getattr(document, field), settings, problems, f"/{field}")
    check.refuse_id(None if origin.door else document.name, problems)
    check.check_sinks(document.sink, problems)
    check.check_name(document.rate.key if document.rate else None, settings, problems, "/rate/key")
    check.check_unique(document.unique, settings, problems)
    check.check_attributes(document.attributes, settings, problems, "/attributes")
    check_callback(document.callback, settings, problems, "/callback")
    return alike(NewBatch, document, origin, gates=batch_gates(document))


async def create_update(
    services: SubmissionServices,
    caller: Caller,
    batch_id: int,
    document: UpdateDocument,
    origin: Origin,
) -> tuple[Answer, bool]:
    """Reserve numbers for jobs and groups, or submit jobs and groups in one request."""
    if document.jobs or document.groups:
        problems = Problems()
        if document.n_jobs or document.n_groups:
            problems.add(InvalidValue, "/n_jobs", "reserve numbers or send jobs, not both")
        return await _submit(services, caller, batch_id, document, origin, problems)
    reserved, is_new = await services.store.create_update(
        caller, batch_id, origin, n_jobs=document.n_jobs, n_groups=document.n_groups
    )
    return _update_answer(batch_id, reserved), is_new


async def create_group(
    services: SubmissionServices,
    caller: Caller,
    batch_id: int,
    document: GroupDocument,
    origin: Origin,
) -> bool:
    """Create a group, with its ancestors if it is in the tree; return whether it is new."""
    update = UpdateDocument(groups=[document])
    with pointing(lambda pointer: pointer.removeprefix("/groups/0")):
        _, is_new = await _submit(services, caller, batch_id, update, origin, Problems())
    return is_new


async def add_jobs(
    services: SubmissionServices,
    caller: Caller,
    batch_id: int,
    update_id: int,
    document: JobBunch,
    origin: Origin,
) -> tuple[Answer, bool]:
    """Add a bunch of jobs. A repeat with the same first job does nothing."""
    refuse_too_many("jobs", len(document.jobs), services.settings)
    problems = Problems()
    if not document.jobs:
        problems.add(InvalidValue, "/jobs", "a bunch has at least one job")
        problems.raise_any()
    context = DocumentContext(
        settings=services.settings,
        trace_id=origin.trace_id,
        ordinary=are_ordinary(document.jobs),
        inherit_env=document.inherit_env,
        batch_id=batch_id,
        has_lifecycle=True,
        first=document.first,
    )
    draft = Draft(services, caller, batch_id, document.jobs, context, problems)
    rows = (await _translate(draft)).rows
    with _pointing(document.jobs):
        is_new = await services.store.add_jobs(caller, batch_id, update_id, rows, origin)
    if is_new is None:
        await _refuse_other_jobs(services, caller, batch_id, update_id, rows)
    if is_new:
        JOBS_SUBMITTED.labels(origin.door or NO_DOOR).inc(rows.n_jobs)
    return {"n_jobs": rows.n_jobs}, bool(is_new)


async def _refuse_other_jobs(
    services: SubmissionServices, caller: Caller, batch_id: int, update_id: int, rows: JobRows
) -> None:
    """Raise `BunchDiffers` unless the jobs with these numbers are the same."""
    update = await services.store.get_update(caller, batch_id, update_id)
    stored: Sequence[Row] = ()
    if rows.n_jobs <= JOBS_MAX:
        stored = await services.store.get_bunch(
            caller, batch_id, update_id, first_job=rows.first_job, n_jobs=rows.n_jobs
        )
    found = [{**row, **spec_fields(row["spec"])} for row in stored]
    refuse_if_different(rows, update, found)


async def add_groups(
    services: SubmissionServices,
    caller: Caller,
    batch_id: int,
    update_id: int,
    document: GroupBunch,
    origin: Origin,
    *,
    depth_max: int | None = None,
) -> tuple[Answer, bool]:
    """Add a bunch of groups. A repeat does nothing."""
    refuse_too_many("groups", len(document.groups), services.settings)
    problems = Problems()
    groups = bunch_rows(document.groups, document.first, services.settings, problems)
    problems.raise_any()
    is_new = await services.store.add_groups(
        caller, batch_id, update_id, groups, origin, depth_max=depth_max
    )
    return {"n_groups": len(groups)}, is_new


async def commit_update(
    services: SubmissionServices, caller: Caller, batch_id: int, update_id: int
) -> Answer:
    """Make all jobs of an update visible and runnable. A repeat gets the same answer."""
    with _pointing(()):
        reserved = await services.store.commit_update(caller, batch_id, update_id)
    services.forget_update(caller, batch_id, update_id)
    return _update_answer(batch_id, reserved)


async def get_update(
    services: SubmissionServices, caller: Caller, batch_id: int, update_id: int
) -> Answer:
    """Get what an update has reserved and whether it is committed."""
    return _update_answer(batch_id, await services.store.get_update(caller, batch_id, update_id))


async def _submit(
    services: SubmissionServices,
    caller: Caller,
    target: NewBatch | int,
    document: BatchDocument | UpdateDocument,
    origin: Origin,
    problems: Problems,
) -> tuple[Answer, bool]:
    """Submit in one transaction: the batch (or take that of this number), groups, jobs, commit."""
    prepared = await _prepare(services, caller, target, document, origin, problems)
    translated = prepared.translated
    with _pointing(document.jobs, prepared.again.values()):
        found_id, reserved, added_at = await services.store.submit(
            caller, target, prepared.groups, translated.rows if translated else None, origin
        )
    is_new = added_at is not None
    if is_new:
        JOBS_SUBMITTED.labels(origin.door or NO_DOOR).inc(reserved.n_jobs)
    _after_commit()
    answer = _update_answer(found_id, reserved)
    answer["id"] = found_id
    if origin.door:
        answer["added_at"] = added_at
    answer |= await _first_answer(services, caller, target, found_id, origin, is_new=is_new)
    if translated and translated.positions is not None:
        answer["job_ids"] = [reserved.first_job + at - 1 for at in translated.positions]
    return answer, is_new


@dataclass(frozen=True)
class _Prepared:
    """What one transaction needs."""

    groups: Sequence[NewGroup]
    translated: Translated | None
    again: Mapping[str, FieldError]
    """Groups that are declared and exist already."""


async def _prepare(
    services: SubmissionServices,
    caller: Caller,
    target: NewBatch | int,
    document: BatchDocument | UpdateDocument,
    origin: Origin,
    problems: Problems,
) -> _Prepared:
    """Translate a document; raise everything that is wrong with it."""
    settings = services.settings
    refuse_too_many("jobs", len(document.jobs), settings)
    refuse_too_many("groups", len(document.groups), settings)
    batch_id = target if isinstance(target, int) else None
    n_names = len(document.groups) + sum(len(job.groups) for job in document.jobs if job.groups)
    named = document.groups, document.jobs, settings, problems
    if n_names > THREAD_VALUES:
        paths, sets = await asyncio.to_thread(named_groups, *named)
    else:
        paths, sets = named_groups(*named)
    existing, existing_sets = await _existing_groups(services, caller, batch_id, paths, sets)
    again = declared_again(document.groups, existing.keys() | existing_sets.keys())
    # The database refuses them, unless this repeats the request that created them.
    existing = {path: number for path, number in existing.items() if path not in again}
    existing_sets = {name: n for name, n in existing_sets.items() if name not in again}
    planned, group_by_path = plan_groups(paths, existing)
    set_by_name = plan_sets(sets, existing_sets, after=len(planned))
    context = DocumentContext(
        settings=settings,
        trace_id=origin.trace_id,
        ordinary=are_ordinary(document.jobs),
        inherit_env=document.inherit_env,
        batch_id=batch_id,
        has_lifecycle=isinstance(target, int) or target.lifecycle is not None,
        whole=True,
        group_by_path=group_by_path,
        set_by_name=set_by_name,
    )
    translated = None
    if document.jobs:
        draft = Draft(services, caller, target, document.jobs, context, problems)
        translated = await _translate(draft)
    problems.raise_any()
    return _Prepared(planned_rows(planned, set_by_name, document.groups), translated, again)


async def _translate(draft: Draft) -> Translated:
    """Translate; read the workers afresh before a job is refused for its size."""
    refuse_too_large_arrays(draft.rare, draft.services.settings)
    await fill_app_fields(draft)
    await find_router(draft)
    for check_jobs in CHECKS if draft.rare else ():
        await check_jobs(draft)
    try:
        translated = await _translate_for(draft, fresh=False)
    except NoWorkerFits:
        translated = await _translate_for(draft, fresh=True)
    finally:
        count_failures(draft.caller, draft.context.router)
    sign_functions(draft, translated.rows)
    return translated


async def _translate_for(draft: Draft, *, fresh: bool) -> Translated:
    """Translate for the workers and licences of now; of a few seconds ago unless `fresh`."""
    services, caller = draft.services, draft.caller
    workers = await services.workers(caller, fresh=fresh)
    draft.learn(licences=await services.licences(fresh=fresh))

    def translating() -> Awaitable[Translated]:
        return translate_apart(draft.jobs, draft.context, workers, draft.problems.copy())

    return await routed_later(services, caller, draft.context.router, translating)


async def _existing_groups(
    services: SubmissionServices,
    caller: Caller,
    batch_id: int | None,
    paths: Sequence[str],
    sets: Sequence[str],
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the numbers of those paths (with their ancestors) and sets that exist already."""
    if batch_id is None:
        return {}, {}
    find = partial(services.store.get_group, caller, batch_id)
    found, found_sets = await find_paths(paths, find), {}
    for name in sets:
        with suppress(GroupNotFound):
            row = await find(name)
            if row["kind"] == "set":
                found_sets[name] = row["group_id"]
    return found, found_sets


async def _first_answer(
    services: SubmissionServices,
    caller: Caller,
    target: NewBatch | int,
    batch_id: int,
    origin: Origin,
    *,
    is_new: bool,
) -> Answer:
    """Return the first request's trace id and its key's fate: a repeat gets the same answer."""
    store, answer = services.store, Answer()
    if isinstance(target, NewBatch) and target.unique is not None:
        answer |= await store.get_key_answer(caller, batch_id, origin.key, is_new=is_new)
    trace_id = None if is_new else (await store.get_batch(caller, batch_id))["trace_id"]
    return {"trace_id": trace_id or origin.trace_id, **answer}


def _update_answer(batch_id: int, reserved: Reserved) -> Answer:
    return {"batch_id": batch_id, **vars(reserved)}


@contextmanager
def _pointing(
    jobs: Sequence[JobDocument], declared_again: Iterable[FieldError] = ()
) -> Iterator[None]:
    """Point at what the database refuses: unknown names, groups that exist. Count full queues."""
    try:
        yield
    except GroupExists as error:
        error.errors = tuple(islice(declared_again, PROBLEMS_MAX))
        raise
    except ProjectNotFound as error:
        error.errors = (FieldError("/billing_project", error.message),)
        raise
    except QueueFull:
        QUEUES_FULL.inc()
        raise
    except QuotaExceeded:
        QUOTAS_EXCEEDED.inc()
        raise
    except (ParentNotFound, InvalidValue) as error:
        found = (
            FieldError(f"/jobs/{index}/parents/{n}", error.message)
            for index, job in enumerate(jobs)
            for n, ref in enumerate(job.parents)
            if str(getattr(ref, "of", ref)).rpartition(".")[2] == error.subject
        )
        error.errors = tuple(islice(found, PROBLEMS_MAX)) or error.errors
        raise
