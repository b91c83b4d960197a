"""Batches under construction: jobs and groups are collected here and sent by `submit`.

Nothing in this file talks to the server or waits, so the builders of both clients are these; only
their `submit` differs.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from itertools import chain
from pathlib import PurePath
from typing import Any, Generic, TypeVar, Unpack

from weft.client.api import Api
from weft.client.http.calls import Document
from weft.client.objects.job_keywords import NAMES, JobKeywords
from weft.client.submission.ahead import Packing, sent_ahead
from weft.client.submission.document import DraftGroup, Membership, PendingUpdate
from weft.client.submission.refs import Block, HasRef, JobRef, group_exists
from weft.client.submission.spool import JobSpool, size_of
from weft.core.errors import (
    FieldError,
    InvalidDocument,
    InvalidValue,
    Unavailable,
    WeftError,
    WrongType,
)
from weft.core.graph.group_tree import ROOT, wrong_path
from weft.core.graph.parents import Parents, merged
from weft.core.ids import format_batch_id, format_job_ref
from weft.core.text.amounts import counted
from weft.core.text.durations import parse_seconds
from weft.wire.synonyms import nearest_field

JobT = TypeVar("JobT")
BuilderT = TypeVar("BuilderT")
UNLIMITED = 1 << 30
"""Limits of paths are the server's; here only their form is checked."""


class Draft:
    """State shared by all objects of one builder."""

    def __init__(
        self,
        api: Api,
        *,
        batch: Document,
        batch_id: int | None,
        inherit_env: Mapping[str, str] | None,
    ) -> None:
        self._api = api
        self._batch = batch
        self._inherit_env = inherit_env
        self._memberships: dict[Membership, int] = {}
        self._pending: PendingUpdate | None = None
        self.batch_id = batch_id
        self.answer: Document = {}
        self.packing = Packing()
        self._begin()

    def _begin(self) -> None:
        self.block = Block()
        self._spool = JobSpool()
        self._groups: dict[str, DraftGroup] = {}
        self._spans: dict[Membership, array[int]] = {}
        self._ahead: dict[str, bytes] = {}
        self._refused: WeftError | None = None

    @property
    def title(self) -> str:
        """Return the name shown to a person."""
        if self.batch_id is not None:
            return format_batch_id(self.batch_id)
        name = self._batch.get("name")
        return f"new batch {name!r}" if name else "new batch"

    @property
    def n_jobs(self) -> int:
        """Return the number of jobs not yet submitted."""
        pending = self._pending.spool.n_jobs if self._pending else 0
        return pending + self._spool.n_jobs

    def add_job(self, membership: Membership, job: Document) -> JobRef:
        """Collect one job, or an array of them."""
        position, count = self._spool.n_jobs + 1, size_of(job) or 1
        self._ahead |= sent_ahead([job])
        spans = self._spans.setdefault(membership, array("q"))
        if spans and spans[-1] == position:
            spans[-1] += count
        else:
            spans.extend((position, position + count))
        self._spool.append(self._memberships.setdefault(membership, len(self._memberships)), job)
        return JobRef(self.block, position, count)

    def jobs_of(self, group: Membership) -> Parents:
        """Return the positions of the collected jobs that are in a group or below it."""
        above = group.path.rstrip("/") + "/"
        return merged(
            tuple(
                range(*spans[n : n + 2])
                for where, spans in self._spans.items()
                if f"{where.path}/".startswith(above) and {*group.sets} <= {*where.sets}
                for n in range(0, len(spans), 2)
            )
        )

    def add_group(self, group: DraftGroup) -> None:
        """Collect a group. A tree group may be asked for again, if nothing new is said of it."""
        known = self._groups.get(group.key)
        if known is None or (not group.is_set and not known.options):
            self._groups[group.key] = group
        elif group.is_set or group.options:
            raise group_exists(group.key)

    async def submit(self, on_sent: Callable[[int], None] | None = None) -> int:
        """Send what was collected; return the number of the batch.

        Jobs that could not be sent are kept for the next call. Those of a refused request are
        dropped: all are to be created again. A call without any then raises as the last one.
        """
        if self._refused is not None and not (self.n_jobs or self._groups):
            raise self._refused
        if self._pending is not None:
            await self._send(self._pending, on_sent)
        if self.batch_id is None or self._spool.n_jobs or self._groups:
            self._pending = PendingUpdate(
                api=self._api,
                batch=self._batch,
                batch_id=self.batch_id,
                block=self.block,
                spool=self._spool,
                memberships=list(self._memberships),
                groups=list(self._groups.values()),
                inherit_env=self._inherit_env,
                ahead=self._ahead,
            )
            self._begin()
            await self._send(self._pending, on_sent)
        assert self.batch_id is not None
        return self.batch_id

    async def _send(self, pending: PendingUpdate, on_sent: Callable[[int], None] | None) -> None:
        try:
            self.batch_id = await pending.run(on_sent)
            self.answer, self._pending = pending.answer, None
        except WeftError as error:
            if not isinstance(error, Unavailable):
                error.add_note(f"All {pending.spool.n_jobs} jobs are to be created again.")
                self._pending, self._refused = None, error
            raise


class GroupBuilder(Generic[JobT]):
    """Where jobs are created: the whole batch, a tree group of it, or a set."""

    def __init__(
        self, draft: Draft, make_job: Callable[[JobRef], JobT], membership: Membership
    ) -> None:
        self._draft = draft
        self._make_job = make_job
        self._membership = membership

    def __repr__(self) -> str:
        path, sets = self._membership.path, self._membership.sets
        title = " ".join([self._draft.title, *([path] if path != ROOT else []), *sets])
        jobs = counted(self._draft.n_jobs, "job")
        return f"<{type(self).__name__} of {title}, {jobs} not submitted yet>"

    @property
    def path(self) -> str:
        """Return the path of the tree group in which jobs are created."""
        return self._membership.path

    def create_job(
        self,
        command: Sequence[str | PurePath] | None = None,
        *,
        name: str | None = None,
        script: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | PurePath | None = None,
        resources: Mapping[str, float | str] | None = None,
        timeout_s: float | str | None = None,
        always_run: bool = False,
        parents: Sequence["HasRef | int | GroupBuilder[JobT] | Mapping[str, Any]"] = (),
        groups: Sequence["GroupBuilder[JobT] | str"] = (),
        count: int | None = None,
        values: Iterable[str | PurePath] | None = None,
        **keywords: Unpack[JobKeywords],
    ) -> JobT:
        """Create a job here, or an array of jobs; it runs when the builder was submitted.

        Args:
            command: Program and arguments. Without `command` and `script`: a no-op that succeeds.
            name: For people and queries; names need not be unique.
            script: Text for the shell, or one that begins with `#!`, instead of a command.
            env: Variables on top of the job's small environment.
            cwd: Absolute path; default: an empty directory of its own.
            resources: `cpu` in cores, `memory` and `storage` as `"512Mi"` or bytes, `gpu`.
            timeout_s: Seconds after which it ends as `error`; also as `"5m"` or `"1h30m"`.
            always_run: Run also if a parent did not succeed, and after a cancel.
            parents: Jobs, numbers of jobs of the batch, or groups of this builder, which stand
                for their jobs so far, that must succeed before; one whose end or start is enough
                is `{"of": job, "need": "end"}` or `"start"`; `"95%"`: that share.
            groups: Sets that it is in besides.
            count: Number of jobs of an array; each knows its index as `$WEFT_INDEX`.
            values: Instead: texts, one for each job of the array; `{value}` in the command.
            keywords: `stdin`, `priority`, `not_before` and the others of `JobKeywords`.
        """
        if not keywords.keys() <= NAMES:
            raise self._unexpected(min(keywords.keys() - NAMES))
        document = {
            "command": self._checked(command),
            "name": name,
            "script": script,
            "env": env,
            "cwd": cwd,
            "resources": resources,
            "timeout_s": parse_seconds(timeout_s) if isinstance(timeout_s, str) else timeout_s,
            "always_run": always_run or None,
            "parents": self._names_of(parents),
            "count": count,
            "values": self._texts(values),
            **keywords,
        }
        self._draft.packing.fill(document)
        membership = self._membership_with(groups)
        return self._make_job(self._draft.add_job(membership, _given(document)))

    def _unexpected(self, keyword: str) -> TypeError:
        known = {*signature(self.create_job).parameters, *NAMES} - {"keywords"}
        near = nearest_field(keyword, known)
        meant = f"; did you mean {near}?" if near else ""
        return TypeError(f"create_job() got an unexpected keyword argument {keyword!r}{meant}")

    def _checked(
        self, command: Sequence[str | PurePath] | None
    ) -> Sequence[str | PurePath] | None:
        """Refuse a string, which would be read as a list of its characters."""
        if isinstance(command, str):
            pointer = f"/jobs/{self._draft.n_jobs}/command"
            message = "a command is a list of program and arguments; `script=` takes one text"
            raise WrongType.of([FieldError(pointer, message)])
        return command

    def _texts(self, values: Iterable[str | PurePath] | None) -> list[str] | None:
        """Refuse what is not a list of texts: the jobs are counted before the server sees them."""
        if values is None:
            return None
        pointer = f"/jobs/{self._draft.n_jobs}/values"
        if isinstance(values, str):
            raise WrongType.of([FieldError(pointer, "values are a list of texts, not one text")])
        found = [str(value) if isinstance(value, PurePath) else value for value in values]
        wrong = next((n for n, value in enumerate(found) if not isinstance(value, str)), None)
        if wrong is not None:
            message = f"{found[wrong]!r} is not a text"
            raise WrongType.of([FieldError(f"{pointer}/{wrong}", message)])
        if not found:
            raise InvalidValue.of([FieldError(pointer, "an array has at least one value")])
        return found

    def _names_of(self, parents: object) -> list[object] | None:
        """Return parents as documents name them; None: there are none."""
        if not parents:
            return None
        if isinstance(parents, str) or not isinstance(parents, Iterable):
            raise self._wrong_parents("parents are a list of jobs: write parents=[job]")
        return list(chain.from_iterable(map(self._parent, parents))) or None

    def _wrong_parents(self, message: str) -> InvalidDocument:
        return WrongType.of([FieldError(f"/jobs/{self._draft.n_jobs}/parents", message)])

    def _parent(self, parent: object) -> Iterator[object]:
        """Yield a parent as documents name it: a position in this update, the first and the last
        of an array's, or `b12.j7`; `j7` if the batch goes without saying.
        """
        if isinstance(parent, int):
            yield f"j{parent}"
            return
        if isinstance(parent, Mapping):
            for jobs in self._parent(parent.get("of")):
                yield {**parent, "of": jobs}
            return
        if isinstance(parent, GroupBuilder):
            yield from self._jobs_in(parent)
            return
        ref = getattr(parent, "ref", None)
        if not isinstance(ref, JobRef):
            shown = repr(parent)[:80]
            raise self._wrong_parents(
                f"{shown} is neither a job nor its number nor a group; create_job returns the job"
            )
        if ref.block is not self._draft.block:
            for job_id in range(ref.job_id, ref.job_id + ref.count):
                yield format_job_ref(ref.batch_id, job_id)
        elif ref.count == 1:
            yield ref.position
        else:
            yield ref.position, ref.position + ref.count - 1

    def _jobs_in(self, group: "GroupBuilder[JobT]") -> Iterator[object]:
        positions = self._draft.jobs_of(group._membership) if group._draft is self._draft else ()  # noqa: SLF001
        if not positions:
            raise self._wrong_parents(f"{group!r} has no jobs that this builder has not sent yet")
        for jobs in positions:
            yield jobs if isinstance(jobs, int) else (jobs.start, jobs.stop - 1)

    def _membership_with(self, groups: Sequence["GroupBuilder[JobT] | str"]) -> Membership:
        if not groups:
            return self._membership
        names = [
            name
            for group in groups
            for name in ((group,) if isinstance(group, str) else group._membership.sets)  # noqa: SLF001
        ]
        return Membership(
            self._membership.path, tuple(dict.fromkeys([*self._membership.sets, *names]))
        )


class JobTreeBuilder(Generic[JobT]):
    """The tree of groups of a batch under construction."""

    def __init__(self, draft: Draft, make_job: Callable[[JobRef], JobT]) -> None:
        self._draft = draft
        self._make_job = make_job

    def __repr__(self) -> str:
        return f"<JobTreeBuilder of {self._draft.title}>"

    def create_path(
        self,
        path: str,
        *,
        cancel_after_n_failures: int | None = None,
        attributes: Mapping[str, str] | None = None,
        callback: str | None = None,
    ) -> GroupBuilder[JobT]:
        """Return the tree group of a path such as `/session1/stage1`; groups above it are made as
        needed.

        A group that the batch has already is used as it is, unless an option is given.
        """
        if path != ROOT:
            wrong = wrong_path(path, depth_max=UNLIMITED, name_chars_max=UNLIMITED)
            if wrong:
                raise InvalidValue.of([FieldError("/groups/0/path", wrong)])
            options = group_options(cancel_after_n_failures, attributes, callback)
            self._draft.add_group(DraftGroup(path, is_set=False, options=options))
        return GroupBuilder(self._draft, self._make_job, Membership(path))


class Builder(GroupBuilder[JobT]):
    """A batch under construction, or an update of one."""

    def __init__(self, draft: Draft, make_job: Callable[[JobRef], JobT]) -> None:
        super().__init__(draft, make_job, Membership())

    def create_job_group(
        self,
        name: str,
        *,
        cancel_after_n_failures: int | None = None,
        attributes: Mapping[str, str] | None = None,
        callback: str | None = None,
    ) -> GroupBuilder[JobT]:
        """Create a set of jobs that can be waited for, costed and cancelled as one.

        Args:
            name: Unique among the sets of the batch; `Batch.get_job_group` finds the set by it.
            cancel_after_n_failures: The number of failures after which its jobs are cancelled.
            attributes: Your own keys and values.
            callback: URL to which its status is posted when it is complete.
        """
        options = group_options(cancel_after_n_failures, attributes, callback)
        self._draft.add_group(DraftGroup(name, is_set=True, options=options))
        return GroupBuilder(self._draft, self._make_job, Membership(sets=(name,)))

    def job_tree(self) -> JobTreeBuilder[JobT]:
        """Return the tree of groups; a job sits in one of them and counts in all above it."""
        return JobTreeBuilder(self._draft, self._make_job)


def group_options(
    cancel_after_n_failures: int | None, attributes: Mapping[str, str] | None, callback: str | None
) -> dict[str, Any]:
    """Return the options of a group's document."""
    return _given(
        {
            "cancel_after_n_failures": cancel_after_n_failures,
            "attributes": attributes,
            "callback": callback,
        }
    )


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that were given."""
    return {key: value for key, value in fields.items() if value is not None}


class BuilderSource(Generic[BuilderT]):
    """A client as a source of builders. `make` wraps a draft in its builder."""

    def __init__(self, api: Api, make: Callable[[Draft], BuilderT]) -> None:
        self._drafts_of = api
        self._make_builder = make

    def create_batch(
        self,
        *,
        name: str | None = None,
        billing_project: str | None = None,
        attributes: Mapping[str, str] | None = None,
        callback: str | None = None,
        cancel_after_n_failures: int | None = None,
        max_running: int | None = None,
        rate: Mapping[str, str | int | float] | None = None,
        inherit_env: Mapping[str, str] | None = None,
        unique: Mapping[str, str | float] | None = None,
    ) -> BuilderT:
        """Return a builder of a new batch; nothing is sent before its `submit`.

        Args:
            name: For people and queries; names need not be unique.
            billing_project: The billing project that pays; default: `default`.
            attributes: Keys and values for queries.
            callback: URL to which its status is posted when it is complete.
            cancel_after_n_failures: The number of failures after which the batch is cancelled.
            max_running: The number of its jobs that may run at once.
            rate: How often its jobs start: `{"key": "api", "n": 10, "per_s": 1}`.
            inherit_env: Environment of all its jobs, such as `os.environ`.
            unique: A key that one batch has at a time: `{"key": "import"}`; see `Batch.skipped`.
        """
        fields = {
            "unique": unique,
            "name": name,
            "billing_project": billing_project,
            "max_running": max_running,
            "rate": rate,
            **group_options(cancel_after_n_failures, attributes, callback),
        }
        draft = Draft(
            self._drafts_of, batch=_given(fields), batch_id=None, inherit_env=inherit_env
        )
        return self._make_builder(draft)

    def update_batch(
        self, batch_id: int, *, inherit_env: Mapping[str, str] | None = None
    ) -> BuilderT:
        """Return a builder of more jobs for a batch; nothing is sent before its `submit`.

        Its jobs may have those of the batch as parents, and groups that are there already.
        """
        draft = Draft(self._drafts_of, batch={}, batch_id=batch_id, inherit_env=inherit_env)
        return self._make_builder(draft)
