"""A batch document, or what a builder holds, on its way to the server: small or large.

In bunches, names of parents and paths of groups become numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from weft.client.answer import Answer
from weft.client.http.calls import Document
from weft.client.http.session import new_key
from weft.client.routes import Routes
from weft.client.submission.refs import Block, GroupPlan, plan_group_numbers
from weft.client.submission.spool import JobSpool, size_of
from weft.client.submission.upload import Upload, fill_in_bunches, fits_one_request
from weft.core.errors import FieldError, GroupNotFound, InvalidValue, WrongType
from weft.core.graph.group_tree import ROOT, find_paths
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
    api: Routes,
    document: Document,
    ahead: Mapping[str, bytes],
    *,
    on_sent: Callable[[int], None] | None = None,
) -> Document:
    """Create a batch with all its jobs in bunches; return what `POST /v1/batches` answers.

    `ahead`: what its jobs name, as of `sent_ahead`. If a bunch is refused, the new batch is
    cancelled and the error names the job's position in the document.
    """
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


def plan_submission(document: Document) -> SubmissionPlan:
    """Resolve names of parents and paths of groups. Raise the same errors as the server would."""
    jobs: Sequence[Document] = document["jobs"]
    names = [job.get("name") for job in jobs]
    problems = Problems()
    refs = [job.get("parents") or () for job in jobs]
    positions = Positions([size_of(job) for job in jobs])
    earlier = Earlier(batch_id=None, names=True)
    parents, loose = resolve_parents(
        names,
        refs,
        positions=positions,
        earlier=earlier,
        problems=problems,
        groups=[job.get("group") for job in jobs],
    )
    order = order_jobs(parents, names, problems, positions)
    declared = document.get("groups") or ()
    for kind, name, given in (("groups", "path", declared), ("jobs", "group", jobs)):
        for n, one in enumerate(given):
            if isinstance(path := one.get(name), str) and not path.startswith("/"):
                what = f"{path[:80]!r} does not begin with '/'"
                problems.add(InvalidValue, f"/{kind}/{n}/{name}", what)
    problems.raise_any()
    origins: Sequence[int] = range(len(jobs))
    if order is not None:
        origins = order
        numbers = positions.numbers_in(order)
        parents = renumbered(parents, positions, numbers)
        loose = {need: renumbered(of, positions, numbers) for need, of in loose.items()}
    groups = _plan_groups(declared, jobs)
    planned = [_planned_job(jobs[one], one, parents, loose, groups) for one in origins]
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
    job: Document,
    entry: int,
    parents: Sequence[Parents],
    loose: Mapping[str, Sequence[Parents]],
    groups: GroupPlan,
) -> Document:
    """Return a job with numbers for names."""
    changed = {**job, **groups.of_job(job)}
    if job.get("parents"):
        refs: list[object] = _refs(parents[entry])
        for need, of in loose.items():
            refs += [{"of": ref, "need": need} for ref in _refs(of[entry])]
        changed["parents"] = refs
    return changed


def _refs(parents: Parents) -> list[object]:
    return [[job.start, job.stop - 1] if isinstance(job, range) else job for job in parents]


@dataclass(frozen=True)
class Membership:
    """Which groups a job is in: one of the tree, and any number of sets."""

    path: str = ROOT
    sets: tuple[str, ...] = ()

    def named(self) -> dict[str, Any]:
        """Return what a job's document says of it when all is in one request."""
        group = {"group": self.path} if self.path != ROOT else {}
        return {**group, "groups": self.sets} if self.sets else group


@dataclass(frozen=True)
class DraftGroup:
    """A group that a builder was asked to make: a tree group by its path, or a set by its name."""

    key: str
    is_set: bool
    options: Document

    def document(self) -> Document:
        """Return its document for one request."""
        kind = {"name": self.key, "kind": "set"} if self.is_set else {"path": self.key}
        return {**kind, **self.options}


@dataclass
class PendingUpdate:
    """One update to be sent, and its batch if that is new.

    `run` may be called again after it failed and resumes; what the server received although its
    answer was lost is not taken twice.
    """

    api: Routes
    batch: Document
    """What a new batch's document says besides its jobs."""
    batch_id: int | None
    """None: it is still to be created."""
    block: Block
    spool: JobSpool
    memberships: Sequence[Membership]
    groups: Sequence[DraftGroup]
    inherit_env: Mapping[str, str] | None
    ahead: Mapping[str, bytes]
    answer: Document = field(default_factory=dict)
    """What the server answered when it made the batch."""
    _key: str = field(default_factory=new_key)
    _declared: Sequence[Document] | None = None
    _upload: Upload | None = None

    async def run(self, on_sent: Callable[[int], None] | None = None) -> int:
        """Send it and commit; return the number of the batch.

        A new batch whose jobs are refused is cancelled.
        """
        if self.is_small:
            await self._send_whole()
        else:
            await self._send_in_bunches(on_sent)
        self.spool.close()
        assert self.block.batch_id is not None
        return self.block.batch_id

    @property
    def is_small(self) -> bool:
        """Say whether one request is enough."""
        return not self.ahead and fits_one_request(
            n_documents=self.spool.n_documents,
            n_jobs=self.spool.n_jobs,
            n_groups=len(self.groups),
            n_bytes=lambda: self.spool.n_bytes,
        )

    async def _send_whole(self) -> None:
        if self._declared is None:  # the second time it is the same request, whatever is there
            self._declared = [group.document() for group in await self._groups_to_make()]
        where = [membership.named() for membership in self.memberships]
        body: dict[str, Any] = {"groups": self._declared, "jobs": list(self.spool.read(where))}
        if self.inherit_env is not None:
            body["inherit_env"] = self.inherit_env
        if self.batch_id is None:
            answer = await self.api.create_batch({**self.batch, **body}, key=self._key)
        elif body["jobs"] or body["groups"]:
            answer = await self.api.create_update(self.batch_id, body, key=self._key)
        else:
            answer = Answer(id=self.batch_id)
        self.answer = answer
        self.block.batch_id = int(answer["id"])
        self.block.first_job = answer.get("first_job")

    async def _groups_to_make(self) -> list[DraftGroup]:
        """Return the groups that one request has to declare: a tree group of which nothing is
        said and that is used, or is there already, goes without saying.
        """
        if self.batch_id is None:
            return list(self.groups)
        used = {membership.path for membership in self.memberships}
        groups: list[DraftGroup] = []
        for group in self.groups:
            may_be_left_out = not group.is_set and not group.options
            if may_be_left_out and group.key in used:
                continue
            find = partial(self.api.get_group, self.batch_id)
            if may_be_left_out and await find_paths([group.key], find):
                continue
            groups.append(group)
        return groups

    async def _send_in_bunches(self, on_sent: Callable[[int], None] | None) -> None:
        filled = await fill_in_bunches(
            self.api,
            self._plan_once,
            batch=self.batch,
            batch_id=self.batch_id,
            key=self._key,
            may_resume=True,
            on_sent=on_sent,
        )
        self.answer = filled.batch
        self.block.batch_id, self.block.first_job = filled.batch_id, filled.update["first_job"]

    async def _plan_once(self, batch_id: int) -> Upload:
        """Return the one upload, which knows what has arrived already."""
        if self._upload is None:
            self._upload = await self._plan(batch_id)
        return self._upload

    async def _plan(self, batch_id: int) -> Upload:
        """Give every group a number."""
        groups = await self._plan_groups(batch_id)
        where = [groups.of_job(membership.named()) for membership in self.memberships]
        return Upload(
            self.spool.n_jobs,
            lambda: self.spool.read(where),
            groups.documents,
            inherit_env=self.inherit_env,
            ahead=self.ahead,
        )

    async def _plan_groups(self, batch_id: int) -> GroupPlan:
        declared = {group.key: group.options for group in self.groups}
        paths = [group.key for group in self.groups if not group.is_set]
        paths += [membership.path for membership in self.memberships]
        names = [group.key for group in self.groups if group.is_set]
        names += [name for membership in self.memberships for name in membership.sets]
        existing: dict[str, int] = {}
        if self.batch_id is not None:
            existing = await find_paths(paths, partial(self.api.get_group, batch_id))
            for name in dict.fromkeys(names):
                if found := await self._find_set(name, batch_id):
                    existing[name] = found
        return plan_group_numbers(paths, names, declared=declared, existing=existing)

    async def _find_set(self, name: str, batch_id: int) -> int | None:
        try:
            group = await self.api.get_group(batch_id, name)
        except GroupNotFound:
            return None
        return int(group["group_id"]) if group["kind"] == "set" else None
