"""A document of a batch, small or large: in one request, or in bunches with names turned into
numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from weft.client._upload import Upload
from weft.core.errors import WeftError
from weft.core.group_tree import plan_groups
from weft.core.parents import Earlier, order_jobs, resolve_parents
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
    positions: Sequence[int]
    """Where each job stood in the document (from 0), for messages about it."""


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
        len(plan.jobs),
        lambda: plan.jobs,
        plan.groups,
        inherit_env=document.get("inherit_env"),
        positions=plan.positions,
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
    if len(jobs) > ONE_REQUEST_JOBS:
        return False
    return len(msgspec.msgpack.encode(document)) <= ONE_REQUEST_BYTES


def plan_submission(document: Document) -> Plan:
    """Resolve names of parents and paths of groups. Raise the same errors as the server would."""
    jobs: Sequence[Document] = document["jobs"]
    names = [job.get("name") for job in jobs]
    problems = Problems()
    refs = [job.get("parents") or () for job in jobs]
    earlier = Earlier(batch_id=None, names=True)
    parents = resolve_parents(names, refs, first=1, earlier=earlier, problems=problems)
    order = order_jobs(parents, names, problems)
    problems.raise_any()
    positions = list(range(len(jobs))) if order is None else order
    number = {index: place for place, index in enumerate(positions, 1)}
    groups, group_number = _plan_groups(document, jobs)
    planned = [
        _planned_job(jobs[index], [number[p - 1] for p in parents[index]], group_number)
        for index in positions
    ]
    batch = {name: value for name, value in document.items() if name not in FIELDS_OF_JOBS}
    return Plan(batch, groups, planned, positions)


def _plan_groups(
    document: Document, jobs: Sequence[Document]
) -> tuple[list[Document], Mapping[str, int]]:
    declared = {group["path"]: group for group in document.get("groups") or ()}
    used = dict.fromkeys(job["group"] for job in jobs if isinstance(job.get("group"), str))
    planned, number = plan_groups([*declared, *used], {})
    documents: list[Document] = []
    for group in planned:
        fields = {k: v for k, v in declared.get(group.path, {}).items() if k != "path"}
        documents.append({"name": group.name, "parent": group.parent_id, **fields})
    return documents, number


def _planned_job(job: Document, parents: list[int], group_number: Mapping[str, int]) -> Document:
    changed = dict(job)
    if job.get("parents"):
        changed["parents"] = parents
    if isinstance(job.get("group"), str):
        changed["group"] = group_number[job["group"]]
    return changed
