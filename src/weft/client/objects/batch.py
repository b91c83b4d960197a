"""One batch, asynchronously."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from weft.client.answer import Answer
from weft.client.api import Api
from weft.client.generated.objects import BatchCalls
from weft.client.http.calls import PAGE_ROWS, Document, Listing
from weft.client.objects.counted import Counted
from weft.client.objects.group import JobGroup
from weft.client.objects.job import Job
from weft.client.objects.names import BatchNumber
from weft.client.objects.operation import end_of, retried
from weft.client.submission.refs import ref_of
from weft.core.graph.group_tree import is_like_number
from weft.core.ids import format_batch_id

if TYPE_CHECKING:
    from weft.client.generated import answers

ROOT_GROUP = 0
NOTHING: Document = {}


class JobTree:
    """The tree of groups of a batch."""

    def __init__(self, api: Api, batch_id: int) -> None:
        self._api = api
        self._batch_id = batch_id

    def __repr__(self) -> str:
        return f"<JobTree of {format_batch_id(self._batch_id)}>"

    async def get_path(self, path: str) -> JobGroup:
        """Return the tree group of a path such as `/session1`. Raise `GroupNotFound`."""
        return JobGroup(self._api, await self._api.get_group(self._batch_id, path))


class Batch(BatchCalls, Counted):
    """An existing batch.

    `submit` of a builder and `Client.get_batch` return one.
    """

    _api: Api
    id: BatchNumber
    """Its number, which prints as `b42`."""

    def __init__(
        self, api: Api, batch_id: int, *, seen: Answer | None = None, answer: Document = NOTHING
    ) -> None:
        """`seen`: its status, if it was asked for; `answer`: what its submission was answered."""
        self._answer = answer
        self.id = BatchNumber(batch_id)
        super().__init__(api, batch_id, ROOT_GROUP, title=format_batch_id(batch_id))
        self._seen = seen

    @property
    def skipped(self) -> bool:
        """Say whether its submission made nothing, because this batch had the key already."""
        return bool(self._answer.get("skipped"))

    @property
    def replaced(self) -> int | None:
        """Return the batch that had the key and was cancelled for this one."""
        return self._answer.get("replaced")

    async def status(self) -> "answers.Batch":
        return self._saw(await self._api.get_batch(self._batch_id))

    async def cancel(self, *, force: bool = False) -> "answers.Cancelled":
        return await self._api.cancel_batch(self._batch_id, force=force)

    async def retry(
        self,
        q: str | None = None,
        *,
        jobs: Sequence[int] | None = None,
        cause: str | None = None,
        progress: bool | None = None,
    ) -> int:
        """Run failed jobs again, and those that were cancelled because of them; return how many.

        Each has all its tries again; its earlier attempts stay in its history. Jobs that a person
        cancelled stay cancelled, unless they are named. The server goes on if this program ends.

        Args:
            q: Only failed jobs that match this query, for example `exit_code = 3`.
            jobs: Only jobs with these numbers. Raise `JobNotFailed` for one that has not failed.
            cause: Only those that failed for this cause, as `list_causes` names it.
            progress: Show a bar on standard error or in the notebook; default: if it can be seen.
        """
        return await retried(
            self._api, self._batch_id, q, jobs=jobs, cause=cause, title=self.title, shown=progress
        )

    async def resubmit(
        self,
        *,
        failed: bool = False,
        job: int | None = None,
        changes: Mapping[str, Any] | None = None,
        key: str | None = None,
        progress: bool | None = None,
    ) -> "Batch":
        """Make a new batch from the jobs of this one; return it when all of it is there.

        The server goes on if this program ends.

        Args:
            failed: Only from what failed, and what a failed parent or a limit of failures
                cancelled. Raise `BatchRunning` unless all jobs have ended, `NothingToResubmit` if
                none failed.
            job: Only from the job of this number.
            changes: What is different: `name`, `attributes`, `billing_project`, `priority`,
                `env`, `resources`, `timeout_s`, `max_attempts`, `queue`.
            key: A repeat with the same key returns the same batch.
            progress: Show a bar on standard error or in the notebook; default: if it can be seen.
        """
        document = {**(changes or {}), **({"failed": True} if failed else {})}
        document |= {"job": job} if job is not None else {}
        operation = await self._api.resubmit_batch(self._batch_id, document, key=key)
        result = await end_of(self._api, operation, f"{self.title} resubmit", shown=progress)
        return Batch(self._api, int(result["batch_id"]))

    async def list_causes(self, *, all_: bool = False) -> Sequence[Answer]:
        """Return why its jobs failed for good, the most frequent cause first: each has `cause`,
        `reason`, `n_jobs` and an `example`.

        Args:
            all_: Also causes of which all jobs are acknowledged.
        """
        answer = await self._api.list_causes(self._batch_id, all_=all_, limit=PAGE_ROWS)
        return [*map(Answer, answer["causes"])]

    def list_dead_letters(
        self, *, cause: str | None = None, reason: str | None = None, acknowledged: bool = False
    ) -> Listing[Answer]:
        """Yield its jobs that have failed and are not tried again.

        Args:
            cause: Only those that failed for this cause, as `list_causes` names it.
            reason: Only those that failed for this reason, such as `timeout`.
            acknowledged: Those that are acknowledged, instead of the others.
        """
        return self._api.list_dead_letters(
            self._batch_id, cause=cause, reason=reason, acknowledged=acknowledged
        )

    async def acknowledge(
        self, note: str, *, cause: str | None = None, jobs: Sequence[int] | None = None
    ) -> int:
        """Say that a person has seen to its failed jobs: they leave the dead letters, and the
        note stays in their history. Return how many.

        Args:
            note: What to say of them.
            cause: Only those that failed for this cause.
            jobs: Only jobs with these numbers.
        """
        return await self._api.acknowledge_failures(self._batch_id, note, cause=cause, jobs=jobs)

    async def get_graph(
        self, *, level: Literal["groups", "jobs"] | None = None, apart: bool = False
    ) -> Answer:
        """Return what a picture of its dependencies shows: `nodes`, and the `edges` between them.

        Args:
            level: Between groups or between jobs; None: groups if there are some.
            apart: Twelve or more jobs with the same parents and the same children are a node each.
        """
        return await self._api.get_graph(self._batch_id, level=level, apart=apart)

    async def _edit(self, patch: Document) -> Answer:
        return await self._api.edit_batch(self._batch_id, patch)

    def list_jobs(self, q: str | None = None) -> Listing["answers.Job"]:
        return self._api.list_jobs(self._batch_id, q)

    async def delete(self) -> Answer:
        """Remove the batch with all its jobs. It is gone at once, and what runs of it is stopped;
        return the document of the operation that clears up in the background.
        """
        return await self._api.delete_batch(self._batch_id)

    async def get_job_group(self, name: str) -> JobGroup:
        """Return the set of this name, else the tree group of this path (`stage1`: `/stage1`).

        Raise `GroupNotFound`.
        """
        # Else the server would take a name like `7` or `g7` for a number.
        shown = f"/{name}" if is_like_number(name) else name
        return JobGroup(self._api, await self._api.get_group(self._batch_id, shown))

    async def create_job_group(
        self, query: str, *, name: str | None = None, progress: bool | None = None
    ) -> JobGroup:
        """Make a set of the jobs that a query finds now, and return when all are in it.

        The jobs may have ended already: its counts and its cost are those of all of them. The
        server fills it in the background, and continues if this program ends.

        Args:
            query: For example `"pca"` (an attribute's key or value is `pca`), `state = failed`.
            name: For `get_job_group`; default: the server chooses one.
            progress: Show a bar on standard error or in the notebook; default: if it can be seen.
        """
        operation = await self._api.create_query_group(self._batch_id, query, name=name)
        result = await end_of(self._api, operation, f"{self.title} {query[:40]}", shown=progress)
        return JobGroup(self._api, await self._api.get_group(self._batch_id, result["group_id"]))

    def job_tree(self) -> JobTree:
        """Return the tree of groups."""
        return JobTree(self._api, self._batch_id)

    def get_job(self, job_id: int) -> Job:
        """Return the job of this number; nothing is asked of the server yet."""
        return Job(self._api, ref_of(self._batch_id, job_id))
