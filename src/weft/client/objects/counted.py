"""What batches and groups share: counts, a cost, a state, and an end to wait for."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from weft.client.answer import Answer
from weft.client.api import Api
from weft.client.card import card_html
from weft.client.http.calls import Document, Listing
from weft.client.http.sse import ServerEvent
from weft.client.objects.operation import end_of
from weft.client.progress_bar import Progress
from weft.client.waiting import last_of

if TYPE_CHECKING:
    from weft.client.generated import answers

CountedT = TypeVar("CountedT", bound=Answer)
_COMPLETE = frozenset({"batch.complete", "group.complete"})
_DELETED = "batch.deleted"


class Counted:
    """Jobs that are counted together: a batch or a group."""

    title: str
    """The name shown to a person."""

    def __init__(self, api: Api, batch_id: int, group_id: int, *, title: str) -> None:
        self._api = api
        self._batch_id = batch_id
        self._group_id = group_id
        self.title = title
        self._seen: Answer | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title}>"

    def _repr_html_(self) -> str | None:
        """Return the progress for a notebook, as the last `status`, `watch` or `wait` saw it."""
        return None if self._seen is None else card_html(self.title, self._seen)

    def _saw(self, document: CountedT) -> CountedT:
        """Remember a status for a notebook; return it."""
        self._seen = document
        return document

    async def status(self) -> "answers.CountedJobs":
        """Return the document: `state`, `complete`, counts such as `n_succeeded`, `cost`.

        It takes the same time however many jobs there are.
        """
        raise NotImplementedError

    async def cancel(self, *, force: bool = False) -> "answers.Cancelled":
        """Cancel its jobs that have not ended, and no others. None of them starts afterwards.

        If all had ended, it keeps its state (`had_ended` in the answer) and takes no more jobs.

        Args:
            force: Those with `always_run`, too.
        """
        raise NotImplementedError

    async def hold(self) -> Answer:
        """Prevent its jobs from starting until it is released; running jobs continue."""
        raise NotImplementedError

    async def release(self) -> Answer:
        """Let its jobs start, except those that another hold covers."""
        raise NotImplementedError

    async def edit(
        self,
        *,
        name: str | None = None,
        attributes: Mapping[str, str | None] | None = None,
        priority: int | None = None,
        progress: bool | None = None,
    ) -> Answer:
        """Change its name, its attributes or the priority of its jobs; return the document.

        A new name of a tree group changes the paths below it, too. A priority is given to the jobs
        that are there now and have not ended, and the call returns when all have it; the server
        continues if this program ends.

        Args:
            name: The new name; default: unchanged.
            attributes: Those to set, and with `None` as value those to remove; the others stay.
            priority: Higher first, among one user's jobs, from -1000 to 1000; None: unchanged.
            progress: While the jobs get their priority, show a bar on standard error or in the
                notebook; default: only if a person can see it.
        """
        document = await self._edit(patch_of(name, attributes, priority))
        if priority is not None:
            await end_of(self._api, document, f"{self.title} priority {priority}", shown=progress)
            document = await self.status()
        self._note(document)
        return document

    async def _edit(self, patch: Document) -> Answer:
        raise NotImplementedError

    def _note(self, document: Document) -> None:
        """Apply the changes of a document to this object."""

    def list_jobs(self, q: str | None = None) -> Listing["answers.Job"]:
        """Yield its job documents in order of their numbers: all, or those that a query finds,
        for example `state = failed and cost > 5`. Pages are read as they are needed. If it
        finds nothing, `warnings` of what is returned tells of keys that no job has.
        """
        raise NotImplementedError

    def find_lines(
        self,
        text: str,
        *,
        q: str | None = None,
        stream: Literal["both", "stdout", "stderr"] = "both",
    ) -> Listing[Answer]:
        """Yield the lines that have a text in what its jobs have written so far, by job, or in
        what the jobs have that a query finds: `job_id, attempt, stream, number, line`. The server
        searches, page by page as they are needed. If it cannot read what a job wrote, `problem`
        says why.
        """
        group = self._group_id or None
        return self._api.find_lines(self._batch_id, text, group=group, q=q, stream=stream)

    async def count_reasons(self) -> Sequence[Answer]:
        """Return for which reasons its jobs failed, the most frequent first: `reason, state,
        exit_code, signal, n_jobs` and `first_job`, an example.
        """
        group = self._group_id or None
        return await self._api.count_reasons(self._batch_id, group=group)

    async def why(self) -> Answer:
        """Return why its jobs wait: `causes`, what is first to change first, each with `text`, the
        `command` that changes it, and `job_id` of a job for which that was found. A few jobs stand
        for the others, so it takes the same time however many there are.
        """
        return await self._api.why_group(self._batch_id, self._group_id or None)

    def watch(self, *, only_end: bool = False) -> "AsyncGenerator[answers.CountedJobs, None]":
        """Yield the status now and after each change; the last one is complete.

        Nothing is polled: the server announces changes.

        Args:
            only_end: Yield only the first status and the last one.
        """
        wanted = self._is_completion if only_end else None
        return self._api.watch(self._batch_id, self.status, wanted=wanted)

    def _is_completion(self, event: ServerEvent) -> bool:
        if event.kind == _DELETED:
            return True  # the next request raises
        return event.kind in _COMPLETE and self._group_id in _decode(event.data).groups

    async def wait(
        self, *, progress: bool | None = None, timeout_s: float | None = None
    ) -> "answers.CountedJobs":
        """Wait until all its jobs have ended; return the status.

        Args:
            progress: Show a bar on standard error or in the notebook; default: if it can be seen.
            timeout_s: Raise `TimeoutError` after this time; the jobs run on. Default: never.
        """
        with Progress(self.title, shown=progress) as shown:
            async with asyncio.timeout(timeout_s):
                watched = self.watch(only_end=not shown.is_shown)
                return shown.result(await last_of(watched, shown.update))


def patch_of(
    name: str | None, attributes: Mapping[str, str | None] | None, priority: int | None
) -> Document:
    """Return the merge patch that changes what is given."""
    given = {"name": name, "attributes": attributes, "priority": priority}
    return {key: value for key, value in given.items() if value is not None}


class _Groups(msgspec.Struct):
    """The groups that an event names."""

    groups: list[int]


_decode = msgspec.json.Decoder(_Groups).decode
