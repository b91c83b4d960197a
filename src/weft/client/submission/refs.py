"""Names and numbers of jobs and groups, before and after the server has numbered them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from weft.client.http.calls import Document
from weft.core.errors import Conflict, GroupExists
from weft.core.graph.group_tree import plan_groups
from weft.core.ids import format_job_ref


class NotSubmitted(Conflict, code="CLIENT.NOT_SUBMITTED"):
    """A job has no number before its builder is submitted."""


@dataclass(slots=True, eq=False)
class Block:
    """The jobs of one submission, numbered without a gap; where they begin is known at its end."""

    batch_id: int | None = None
    first_job: int | None = None


@dataclass(frozen=True, slots=True)
class JobRef:
    """A job by its position in a block, from 1 on; or `count` of them, an array, by the first."""

    block: Block
    position: int
    count: int = 1

    @property
    def batch_id(self) -> int:
        """Return the number of the batch. Raise `NotSubmitted` if there is none yet."""
        if self.block.batch_id is None:
            raise _not_submitted()
        return self.block.batch_id

    @property
    def job_id(self) -> int:
        """Return the number within the batch. Raise `NotSubmitted` if there is none yet."""
        if self.block.first_job is None:
            raise _not_submitted()
        return self.block.first_job + self.position - 1

    def shown(self) -> str:
        """Return what a person calls it: `b7.j3`, or `b7.j3-j12` for an array."""
        if self.block.batch_id is None or self.block.first_job is None:
            return "that is not submitted yet"
        name = format_job_ref(self.batch_id, self.job_id)
        return name if self.count == 1 else f"{name}-j{self.job_id + self.count - 1}"


class HasRef(Protocol):
    """A job, asynchronous or not."""

    @property
    def ref(self) -> JobRef:
        """Return the job's reference."""


def ref_of(batch_id: int, job_id: int) -> JobRef:
    """Return the reference to a job that exists."""
    return JobRef(Block(batch_id, 1), job_id)


def _not_submitted() -> NotSubmitted:
    return NotSubmitted(
        "the job was not submitted yet",
        detail="A job gets its number when its builder is submitted.",
        hint="Call `submit()` first.",
    )


@dataclass(frozen=True)
class GroupPlan:
    """What is to be made, in order, and the number of each group that jobs are in.

    Numbers are relative to the update: from 1 on for a new group, below 0 for one that is there
    already, 0 the root.
    """

    documents: Sequence[Document]
    by_path: Mapping[str, int]
    by_name: Mapping[str, int]

    def of_job(self, job: Document) -> dict[str, Any]:
        """Return `group` and `groups` of a job's document, as a bunch has them."""
        found: dict[str, Any] = {}
        if isinstance(job.get("group"), str):
            found["group"] = self.by_path[job["group"]]
        if job.get("groups"):
            found["groups"] = [self.by_name.get(name, name) for name in job["groups"]]
        return found


def plan_group_numbers(
    paths: Iterable[str],
    names: Iterable[str],
    *,
    declared: Mapping[str, Document],
    existing: Mapping[str, int],
) -> GroupPlan:
    """Return the plan for these groups of the tree and these sets, each once and in order.

    `declared`: what is said of some of them, by path or name. `existing`: numbers of those that
    the batch has. Raise `GroupExists` for one of which something would have to be changed.
    """
    paths, names = list(paths), list(dict.fromkeys(names))
    for key in existing:
        if key in declared and (declared[key] or not key.startswith("/")):
            raise group_exists(key)
    there = {path: number for path, number in existing.items() if path.startswith("/")}
    planned, by_path = plan_groups(paths, there)
    documents: list[Document] = [
        {"name": group.name, "parent": group.parent_id, **declared.get(group.path, {})}
        for group in planned
    ]
    by_name: dict[str, int] = {}
    for name in names:
        if name in existing:
            by_name[name] = -existing[name]
        else:
            documents.append({"name": name, "kind": "set", **declared.get(name, {})})
            by_name[name] = len(documents)
    return GroupPlan(documents, by_path, by_name)


def group_exists(key: str) -> GroupExists:
    """Return the error for a group that cannot be made again."""
    return GroupExists(
        f"group {key!r} is there already",
        detail="Names of groups are unique, and its options were set when it was made.",
        hint="Leave the options out to add jobs to it, or choose another name.",
    )
