"""Use cases that create: batches, updates, bunches of groups and jobs."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, Final

from weft.api.http.creating import Creating
from weft.api.http.decoding import may_hold_nul
from weft.api.translation.bunch_difference import JOBS_MAX, refuse_if_different, spec_fields
from weft.api.translation.check import check_attributes, check_name
from weft.api.translation.groups import (
    bunch_rows,
    check_callback,
    declared_again,
    named_groups,
    planned_rows,
)
from weft.api.translation.jobs import Request, Translated, translate
from weft.core.errors import (
    FieldError,
    Forbidden,
    GroupExists,
    GroupNotFound,
    InvalidValue,
    NoWorkerFits,
    ParentNotFound,
    ProjectNotFound,
    TooManyJobs,
)
from weft.core.group_tree import ancestors, plan_groups, plan_sets
from weft.core.problems import PROBLEMS_MAX, Problems
from weft.ports.store import JobRows, NewBatch, Reserved, Row
from weft.wire.documents import (
    BatchDocument,
    GroupBunch,
    GroupDocument,
    JobBunch,
    JobDocument,
    UpdateDocument,
)

Answer = dict[str, Any]  # a document has fields of several types
THREAD_JOBS: Final = 500
"""More jobs are translated in a thread, so that other requests are answered meanwhile."""


class Submission:
    """One creating request of one caller."""

    def __init__(self, request: Creating) -> None:
        self._services = request.services
        self._store = request.services.store
        self._settings = request.services.settings
        self._caller = request.caller
        self._body = request.body
        self._key = request.key
        self._trace_id = request.trace_id

    async def create_batch(self) -> tuple[Answer, bool]:
        """Create a batch, with its groups and jobs if there are any; return the answer and whether
        it is new.
        """
        document = self._body.document(BatchDocument)
        problems = Problems()
        self._check_batch(document, problems)
        new = NewBatch(
            name=document.name,
            billing_project=document.billing_project,
            attributes=document.attributes,
            callback=document.callback,
            cancel_after_n_failures=document.cancel_after_n_failures,
            max_running=document.max_running,
            trace_id=self._trace_id,
        )
        if document.jobs or document.groups:
            return await self._submit(new, document, problems)
        problems.raise_any()
        with _pointing(document.jobs):
            batch_id, is_new = await self._store.create_batch(
                self._caller, new, idempotency_key=self._key, digest=self._body.digest
            )
        answer: Answer = {
            "id": batch_id,
            "batch_id": batch_id,
            "update_id": None,
            "first_job": None,
            "first_group": None,
            "n_jobs": 0,
            "n_groups": 0,
            "committed": True,
            "trace_id": await self._trace_of(batch_id, is_new=is_new),
        }
        return answer, is_new

    async def create_update(self, batch_id: int) -> tuple[Answer, bool]:
        """Reserve numbers, or submit the jobs and groups of the document at once."""
        document = self._body.document(UpdateDocument)
        if document.jobs or document.groups:
            problems = Problems()
            if document.n_jobs or document.n_groups:
                message = "either numbers are reserved or jobs are sent, not both"
                problems.add(InvalidValue, "/n_jobs", message)
            return await self._submit(batch_id, document, problems)
        reserved, is_new = await self._store.create_update(
            self._caller,
            batch_id,
            n_jobs=document.n_jobs,
            n_groups=document.n_groups,
            idempotency_key=self._key,
            digest=self._body.digest,
            trace_id=self._trace_id,
        )
        return update_document(batch_id, reserved), is_new

    async def create_group(self, batch_id: int, document: GroupDocument) -> bool:
        """Create one group, with its ancestors if it is of the tree; return whether it is new."""
        _, is_new = await self._submit(batch_id, UpdateDocument(groups=[document]), Problems())
        return is_new

    async def add_jobs(self, batch_id: int, update_id: int) -> tuple[Answer, bool]:
        """Add a bunch to an open update."""
        document = self._body.document(JobBunch)
        self._refuse_too_many("jobs", len(document.jobs))
        self._refuse_too_large_arrays(document.jobs)
        problems = Problems()
        if not document.jobs:
            problems.add(InvalidValue, "/jobs", "a bunch has at least one job")
            problems.raise_any()
        request = self._request(document.inherit_env, batch_id=batch_id, first=document.first)
        translated = await self._translate(document.jobs, request, problems)
        with _pointing(document.jobs):
            is_new = await self._store.add_jobs(
                self._caller,
                batch_id,
                update_id,
                translated.rows,
                idempotency_key=self._key,
                digest=self._body.digest,
            )
        if is_new is None:
            await self._compare(batch_id, update_id, translated.rows)
        return {"n_jobs": translated.rows.n_jobs}, bool(is_new)

    async def _compare(self, batch_id: int, update_id: int, rows: JobRows) -> None:
        """Raise `BunchDiffers` unless these jobs are there already."""
        update = await self._store.get_update(self._caller, batch_id, update_id)
        stored: Sequence[Row] = ()
        if rows.n_jobs <= JOBS_MAX:
            stored = await self._store.get_bunch(
                self._caller, batch_id, update_id, first_job=rows.first_job, n_jobs=rows.n_jobs
            )
        found = [{**row, **spec_fields(row["spec"])} for row in stored]
        refuse_if_different(rows, update, found)

    async def add_groups(self, batch_id: int, update_id: int) -> tuple[Answer, bool]:
        """Add a bunch of groups to an open update."""
        document = self._body.document(GroupBunch)
        self._refuse_too_many("groups", len(document.groups))
        problems = Problems()
        groups = bunch_rows(document.groups, document.first, self._settings, problems)
        problems.raise_any()
        is_new = await self._store.add_groups(
            self._caller,
            batch_id,
            update_id,
            groups,
            idempotency_key=self._key,
            digest=self._body.digest,
        )
        return {"n_groups": len(groups)}, is_new

    async def _submit(
        self, target: NewBatch | int, document: BatchDocument | UpdateDocument, problems: Problems
    ) -> tuple[Answer, bool]:
        """Everything in one transaction: the batch or its number, groups, jobs, commit."""
        self._refuse_too_many("jobs", len(document.jobs))
        self._refuse_too_large_arrays(document.jobs)
        self._refuse_too_many("groups", len(document.groups))
        batch_id = target if isinstance(target, int) else None
        paths, sets = named_groups(document.groups, document.jobs, self._settings, problems)
        existing = await self._existing_groups(batch_id, paths)
        existing_sets = await self._existing_sets(batch_id, sets)
        again = declared_again(document.groups, existing.keys() | existing_sets.keys())
        # The database refuses them, unless this is a repeat of the request that made them.
        existing = {path: number for path, number in existing.items() if path not in again}
        existing_sets = {name: n for name, n in existing_sets.items() if name not in again}
        planned, group_by_path = plan_groups(paths, existing)
        set_by_name = plan_sets(sets, existing_sets, after=len(planned))
        request = self._request(
            document.inherit_env,
            batch_id=batch_id,
            whole=True,
            group_by_path=group_by_path,
            set_by_name=set_by_name,
        )
        translated = None
        if document.jobs:
            translated = await self._translate(document.jobs, request, problems)
        problems.raise_any()
        with _pointing(document.jobs, again.values()):
            found_id, reserved, is_new = await self._store.submit(
                self._caller,
                target,
                planned_rows(planned, set_by_name, document.groups),
                translated.rows if translated else None,
                idempotency_key=self._key,
                digest=self._body.digest,
                trace_id=self._trace_id,
            )
        answer = update_document(found_id, reserved)
        answer["id"] = found_id
        answer["trace_id"] = await self._trace_of(found_id, is_new=is_new)
        if translated and translated.positions is not None:
            answer["job_ids"] = [reserved.first_job + at - 1 for at in translated.positions]
        return answer, is_new

    def _request(
        self,
        inherit_env: dict[str, str] | None,
        **facts: Any,  # noqa: ANN401 (further fields of Request, which checks their names)
    ) -> Request:
        return Request(
            settings=self._settings,
            media=self._body.media,
            trace_id=self._trace_id,
            body_bytes=len(self._body.data),
            inherit_env=inherit_env,
            may_hold_nul=may_hold_nul(self._body.data, self._body.media),
            **facts,
        )

    async def _translate(
        self, jobs: Sequence[JobDocument], request: Request, problems: Problems
    ) -> Translated:
        """Translate; before a job is refused for its size, the workers are looked at afresh."""
        if request.batch_id is not None and any(job.function is not None for job in jobs):
            await self._refuse_strangers(request.batch_id)
        before = problems.copy()
        workers = await self._services.workers(self._caller)
        try:
            return await _in_thread(jobs, request, workers, problems)
        except NoWorkerFits:
            workers = await self._services.workers(self._caller, fresh=True)
            return await _in_thread(jobs, request, workers, before)

    async def _refuse_strangers(self, batch_id: int) -> None:
        """Functions of a batch share processes, so all of them are its owner's."""
        owner = await self._services.owner_of(self._caller, batch_id)
        if owner != self._caller.user_name:
            raise Forbidden(
                f"batch b{batch_id} takes functions from its owner only",
                detail=f"It belongs to {owner}; functions of one batch run in the same processes.",
                hint="Create a batch of your own for them.",
            )

    async def _existing_groups(self, batch_id: int | None, paths: Sequence[str]) -> dict[str, int]:
        """Return the numbers of those paths and ancestors that the batch has already."""
        found: dict[str, int] = {}
        if batch_id is None:
            return found
        missing: set[str] = set()
        for path in dict.fromkeys(one for full in paths for one in ancestors(full)):
            parent = path.rpartition("/")[0]
            if parent in missing:
                missing.add(path)
                continue
            try:
                row = await self._store.get_group(self._caller, batch_id, path)
            except GroupNotFound:
                missing.add(path)
            else:
                found[path] = row["group_id"]
        return found

    async def _existing_sets(self, batch_id: int | None, names: Sequence[str]) -> dict[str, int]:
        """Return the numbers of those sets that the batch has already."""
        found: dict[str, int] = {}
        if batch_id is None:
            return found
        for name in names:
            with suppress(GroupNotFound):
                row = await self._store.get_group(self._caller, batch_id, name)
                if row["kind"] == "set":
                    found[name] = row["group_id"]
        return found

    def _check_batch(self, document: BatchDocument, problems: Problems) -> None:
        check_name(document.name, self._settings, problems, "/name")
        check_name(document.billing_project, self._settings, problems, "/billing_project")
        check_attributes(document.attributes, self._settings, problems, "/attributes")
        check_callback(document.callback, self._settings, problems, "/callback")

    def _refuse_too_many(self, what: str, count: int) -> None:
        limit = self._settings.bunch_jobs_max
        if count > limit:
            message = f"{count} {what}, at most {limit}"
            raise TooManyJobs(
                f"the request has too many {what}",
                detail=f"It has {message}.",
                hint="Create an update and send them in several bunches.",
                errors=[FieldError(f"/{what}", message)],
            )

    def _refuse_too_large_arrays(self, jobs: Sequence[JobDocument]) -> None:
        if not any(job.count for job in jobs):
            return
        limit, count = self._settings.array_jobs_max, sum(job.count or 1 for job in jobs)
        if count > limit:
            raise TooManyJobs(
                "the arrays of the request have too many jobs",
                detail=f"It has {count} jobs with those of its arrays, at most {limit}.",
                hint="Create an update and send the arrays in parts with `count` and "
                "`index_from`, as `weft submit` and the Python client do by themselves.",
                errors=[
                    FieldError(f"/jobs/{index}/count", f"{job.count} jobs")
                    for index, job in enumerate(jobs)
                    if job.count and job.count > 1
                ][:PROBLEMS_MAX],
            )

    async def _trace_of(self, batch_id: int, *, is_new: bool) -> str:
        """Return the trace id of the first request: a repeat gets the same answer."""
        if is_new:
            return self._trace_id
        trace_id: str = (await self._store.get_batch(self._caller, batch_id))["trace_id"]
        return trace_id


def update_document(batch_id: int, reserved: Reserved) -> Answer:
    """Return the document of an update."""
    return {
        "batch_id": batch_id,
        "update_id": reserved.update_id,
        "first_job": reserved.first_job,
        "first_group": reserved.first_group,
        "n_jobs": reserved.n_jobs,
        "n_groups": reserved.n_groups,
        "committed": reserved.committed,
    }


@contextmanager
def _pointing(
    jobs: Sequence[JobDocument], declared_again: Iterable[FieldError] = ()
) -> Iterator[None]:
    """Say at which field stands what only the database could miss, or has already."""
    try:
        yield
    except GroupExists as error:
        error.errors = tuple(islice(declared_again, PROBLEMS_MAX))
        raise
    except ProjectNotFound as error:
        error.errors = (FieldError("/billing_project", error.message),)
        raise
    except ParentNotFound as error:
        missing = re.search(r"\bj[0-9]+\b", error.message)
        found = (
            FieldError(f"/jobs/{index}/parents/{place}", error.message)
            for index, job in enumerate(jobs)
            for place, ref in enumerate(job.parents)
            if missing and isinstance(ref, str) and ref.rpartition(".")[2] == missing[0]
        )
        error.errors = tuple(islice(found, PROBLEMS_MAX))
        raise


async def _in_thread(
    jobs: Sequence[JobDocument], request: Request, workers: Sequence[Any], problems: Problems
) -> Translated:
    if len(jobs) <= THREAD_JOBS:
        return translate(jobs, request, workers, problems)
    return await asyncio.to_thread(translate, jobs, request, workers, problems)
