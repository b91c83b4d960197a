"""A batch document, small or large, on its way to the server.

In bunches, names of parents and paths of groups become numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from weft.client.http.calls import Document
from weft.client.routes import Routes
from weft.client.submission.ahead import sent_ahead
from weft.client.submission.planner import fill_in_bunches, fits_one_request
from weft.client.submission.refs import GroupPlan, plan_group_numbers
from weft.client.submission.spool import size_of
from weft.client.submission.upload import Upload
from weft.core.errors import FieldError, WrongType
from weft.core.graph.parents import Earlier, Parents, order_jobs, renumbered, resolve_parents
from weft.core.graph.positions import Positions
from weft.core.problems import Problems

FIELDS_OF_JOBS = frozenset({"jobs", "groups", "inherit_env"})


@dataclass(frozen=True)
class SubmissionPlan:
    """A document cut into what the slow path takes: all numbers are relative to the one update."""

    batch: Document
    groups: Sequence[Document]
    jobs: Sequence[Document]
    positions: Sequence[int]
    """Where each job stood in the document (from 0), for messages about it."""
    n_jobs: int
    """The number of jobs, those of arrays counted one by one."""


async def submit(
    api: Routes, document: Document, *, on_sent: Callable[[int], None] | None = None
) -> Document:
    """Create a batch with all its jobs, committed; return what `POST /v1/batches` answers.

    If a bunch is refused, the new batch is cancelled and the error names the job's position in
    the document.
    """
    ahead = sent_ahead(document.get("jobs") or ())
    if not ahead and is_small(document):
        return await api.create_batch(document)
    plan = plan_submission(document)

    async def upload(_batch_id: int) -> Upload:
        return Upload(
            plan.n_jobs,
            lambda: plan.jobs,
            plan.groups,
            inherit_env=document.get("inherit_env"),
            positions=plan.positions,
            ahead=ahead,
        )

    filled = await fill_in_bunches(api, upload, batch=plan.batch, on_sent=on_sent)
    return {**filled.batch, **filled.update, "id": filled.batch_id}


def is_small(document: Document) -> bool:
    """Say whether a document goes into one request.

    A malformed one does, so that the server says what is wrong with it.
    """
    jobs = document.get("jobs")
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        return True
    counts = [size for job in jobs if (size := size_of(job)) is not None]
    if not all(isinstance(count, int) and count > 0 for count in counts):
        return True
    return fits_one_request(
        n_documents=len(jobs),
        n_jobs=sum(counts),
        n_groups=len(document.get("groups") or ()),
        n_bytes=lambda: len(msgspec.msgpack.encode(document)),
    )


def plan_submission(document: Document) -> SubmissionPlan:
    """Resolve names of parents and paths of groups. Raise the same errors as the server would."""
    jobs: Sequence[Document] = document["jobs"]
    names = [job.get("name") for job in jobs]
    problems = Problems()
    refs = [job.get("parents") or () for job in jobs]
    positions = Positions([size_of(job) for job in jobs])
    earlier = Earlier(batch_id=None, names=True)
    parents, *loose = resolve_parents(
        names, refs, positions=positions, earlier=earlier, problems=problems,
        groups=[job.get("group") for job in jobs],
    )  # fmt: skip
    order = order_jobs(parents, names, problems, positions)
    problems.raise_any()
    origins: Sequence[int] = range(len(jobs))
    if order is not None:
        origins = order
        numbers = positions.numbers_in(order)
        parents, *loose = (renumbered(one, positions, numbers) for one in (parents, *loose))
    groups = _plan_groups(document.get("groups") or (), jobs)
    planned = [
        _planned_job(jobs[one], parents[one], [of[one] if of else () for of in loose], groups)
        for one in origins
    ]
    batch = {name: value for name, value in document.items() if name not in FIELDS_OF_JOBS}
    return SubmissionPlan(batch, groups.documents, planned, origins, positions.n_jobs)


def _plan_groups(groups: Sequence[Document], jobs: Sequence[Document]) -> GroupPlan:
    declared: dict[str, Document] = {}
    for index, group in enumerate(groups):
        key = group.get("path") or group.get("name")
        if not isinstance(key, str):
            message = "a group has either a path in the tree or the name of a set"
            raise WrongType.of([FieldError(f"/groups/{index}", message)])
        declared[key] = {k: v for k, v in group.items() if k not in {"path", "name", "kind"}}
    keys = dict.fromkeys(
        key
        for key in (
            *declared,
            *(job["group"] for job in jobs if isinstance(job.get("group"), str)),
            *(name for job in jobs for name in job.get("groups") or ()),
        )
        if isinstance(key, str)
    )
    is_path = {key: key.startswith("/") for key in keys}
    return plan_group_numbers(
        [key for key in keys if is_path[key]],
        [key for key in keys if not is_path[key]],
        declared=declared,
        existing={},
    )


def _planned_job(
    job: Document, parents: Parents, loose: Sequence[Parents], groups: GroupPlan
) -> Document:
    """Return a job with numbers for names; `loose`: of whose parents the end is enough, and of
    whose the start.
    """
    changed = {**job, **groups.of_job(job)}
    if job.get("parents"):
        refs: list[object] = _refs(parents)
        for need, of in zip(("end", "start"), loose, strict=True):
            refs += [{"of": ref, "need": need} for ref in _refs(of)]
        changed["parents"] = refs
    return changed


def _refs(parents: Parents) -> list[object]:
    return [[job.start, job.stop - 1] if isinstance(job, range) else job for job in parents]
