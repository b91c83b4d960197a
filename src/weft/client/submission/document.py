"""A document of a batch, small or large: in one request, or in bunches with names turned into
numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from weft.client.submission.group_plan import GroupPlan, plan_group_numbers
from weft.client.submission.upload import PART_JOBS, Upload
from weft.core.errors import FieldError, WeftError, WrongType
from weft.core.parents import Earlier, Parents, order_jobs, renumbered, resolve_parents
from weft.core.positions import Positions
from weft.core.problems import Problems

if TYPE_CHECKING:
    from weft.client.api import Api

ONE_REQUEST_JOBS = 2_000
ONE_REQUEST_BYTES = 4 << 20
FIELDS_OF_JOBS = frozenset({"jobs", "groups", "inherit_env"})

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """A document cut into what the slow path takes: all numbers are relative to the one update."""

    batch: Document
    groups: Sequence[Document]
    jobs: Sequence[Document]
    places: Sequence[int]
    """Where each of them stood in the document (from 0), for messages about it."""
    n_jobs: int
    """How many jobs they are: an array counts as many as it has."""


async def submit(
    api: "Api", document: Document, *, on_sent: Callable[[int], None] | None = None
) -> Document:
    """Create a batch with all its jobs, committed; return what `POST /v1/batches` answers.

    If a bunch is refused, the new batch is cancelled and the error names the job's place in the
    document.
    """
    if is_small(document):
        return await api.create_batch(document)
    plan = plan_submission(document)
    upload = Upload(
        plan.n_jobs,
        lambda: plan.jobs,
        plan.groups,
        inherit_env=document.get("inherit_env"),
        positions=plan.places,
    )
    created = await api.create_batch(plan.batch)
    batch_id = int(created["id"])
    try:
        update = await upload.run(api, batch_id, on_sent=on_sent)
    except WeftError:
        await api.cancel_batch(batch_id, force=True)
        raise
    return {**created, **update, "id": batch_id}


def is_small(document: Document) -> bool:
    """Say whether a document goes into one request. One that is not even a list of jobs does:
    the server says why.
    """
    jobs = document.get("jobs")
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        return True
    counts = [job["count"] for job in jobs if job.get("count") is not None]
    if not all(isinstance(count, int) and count > 0 for count in counts):
        return True
    if len(jobs) > ONE_REQUEST_JOBS or sum(counts) > PART_JOBS:
        return False
    return len(msgspec.msgpack.encode(document)) <= ONE_REQUEST_BYTES


def plan_submission(document: Document) -> Plan:
    """Resolve names of parents and paths of groups. Raise the same errors as the server would."""
    jobs: Sequence[Document] = document["jobs"]
    names = [job.get("name") for job in jobs]
    problems = Problems()
    refs = [job.get("parents") or () for job in jobs]
    positions = Positions([job.get("count") for job in jobs])
    earlier = Earlier(batch_id=None, names=True)
    parents = resolve_parents(names, refs, positions=positions, earlier=earlier, problems=problems)
    order = order_jobs(parents, names, problems, positions)
    problems.raise_any()
    places: Sequence[int] = range(len(jobs))
    if order is not None:
        places = order
        parents, positions = renumbered(parents, positions, order)
    groups = _plan_groups(document.get("groups") or (), jobs)
    planned = [
        _planned_job(jobs[place], own, groups) for place, own in zip(places, parents, strict=True)
    ]
    batch = {name: value for name, value in document.items() if name not in FIELDS_OF_JOBS}
    return Plan(batch, groups.documents, planned, places, positions.n_jobs)


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


def _planned_job(job: Document, parents: Parents, groups: GroupPlan) -> Document:
    changed = {**job, **groups.of_job(job)}
    if job.get("parents"):
        changed["parents"] = [
            [parent.start, parent.stop - 1] if isinstance(parent, range) else parent
            for parent in parents
        ]
    return changed
