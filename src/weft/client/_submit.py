"""A document of a batch, small or large: in one request, or in bunches with names turned into
numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from weft.client._upload import Bunch, cut_bunches, send_bunches
from weft.core.errors import FieldError, WeftError
from weft.core.group_tree import plan_groups
from weft.core.parents import Earlier, order_jobs, resolve_parents
from weft.core.problems import Problems

if TYPE_CHECKING:
    from weft.client.aio import Client

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
    client: "Client", document: Document, *, on_sent: Callable[[int], None] | None = None
) -> Document:
    """Create a batch with all its jobs, committed; return what `POST /v1/batches` answers.

    If a bunch is refused, the new batch is cancelled and the error names the job's place in the
    document.
    """
    if is_small(document):
        return await client.create_batch(document)
    plan = plan_submission(document)
    created = await client.create_batch(plan.batch)
    batch_id = int(created["id"])
    try:
        update = await _fill(client, batch_id, plan, document.get("inherit_env"), on_sent)
    except WeftError:
        await client.cancel_batch(batch_id, force=True)
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


async def _fill(
    client: "Client",
    batch_id: int,
    plan: Plan,
    inherit_env: Mapping[str, str] | None,
    on_sent: Callable[[int], None] | None,
) -> Document:
    update = await client.reserve_update(
        batch_id, n_jobs=len(plan.jobs), n_groups=len(plan.groups)
    )
    update_id = int(update["update_id"])
    if plan.groups:
        await client.add_groups(batch_id, update_id, 1, plan.groups)

    async def send(bunch: Bunch) -> None:
        first, jobs = bunch
        try:
            await client.add_jobs(batch_id, update_id, first, jobs, inherit_env=inherit_env)
        except WeftError as error:
            error.errors = tuple(_moved(one, plan, first) for one in error.errors)
            raise

    await send_bunches(cut_bunches(plan.jobs), send, on_sent=on_sent)
    return await client.commit_update(batch_id, update_id)


def _moved(error: FieldError, plan: Plan, first: int) -> FieldError:
    """Return the error with the place in the whole document instead of that in a bunch."""
    parts = error.pointer.split("/")
    if len(parts) < 3 or parts[1] != "jobs" or not parts[2].isdecimal():  # noqa: PLR2004 (/jobs/N)
        return error
    parts[2] = str(plan.positions[int(parts[2]) + first - 1])
    return FieldError("/".join(parts), error.message)
