"""One job, asynchronously."""

import asyncio
import warnings
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from weft.client.answer import Answer
from weft.client.api import Api, LogEvent
from weft.client.generated.objects import JobCalls
from weft.client.http.calls import Document
from weft.client.http.exec_calls import Execution
from weft.client.http.sse import ServerEvent
from weft.client.objects.counted import patch_of
from weft.client.objects.operation import retried
from weft.client.routes import Stream
from weft.client.submission.refs import JobRef
from weft.client.waiting import last_of
from weft.core.states import ENDED_WORDS

if TYPE_CHECKING:
    from weft.client.generated import answers

_ENDS = frozenset(f"jobs.{word}" for word in ENDED_WORDS)


class Job(JobCalls):
    """One job of a batch.

    `create_job` of a builder returns one; its number is known after `submit`.
    """

    _api: Api
    ref: JobRef
    """Its reference: batch and position."""

    def __init__(self, api: Api, ref: JobRef) -> None:
        self._api = api
        self.ref = ref

    def __repr__(self) -> str:
        return f"<Job {self.ref.shown()}>"

    @property
    def job_id(self) -> int:
        """Return its number within the batch; of an array, that of its first job.

        Raise `NotSubmitted` before the submission.
        """
        return self.ref.job_id

    @property
    def batch_id(self) -> int:
        """Return the number of its batch. Raise `NotSubmitted` before the submission."""
        return self.ref.batch_id

    @property
    def count(self) -> int:
        """Return how many jobs it is: 1, or those of an array. What is asked of an array is asked
        of its first job.
        """
        return self.ref.count

    def element(self, index: int) -> "Job":
        """Return one job of an array; the first is 0, whatever its index."""
        if not 0 <= index < self.ref.count:
            raise IndexError(f"{index} is none of {self.ref.count} jobs")
        return Job(self._api, JobRef(self.ref.block, self.ref.position + index))

    async def status(self) -> "answers.JobDetail":
        """Return the document: `state`, `exit_code`, `cost`, `spec`, `times`, first `parents`."""
        return await self._api.get_job(self.batch_id, self.job_id)

    async def wait(self, *, timeout_s: float | None = None) -> "answers.JobDetail":
        """Wait until the job has ended; return its document.

        Args:
            timeout_s: Raise `TimeoutError` after this time; the job runs on. Default: never.
        """
        watched = self._api.watch(
            self.batch_id, self.status, is_last=_has_ended, wanted=self._is_end
        )
        async with asyncio.timeout(timeout_s):
            return await last_of(watched)

    def _is_end(self, event: ServerEvent) -> bool:
        return event.kind in _ENDS and self.job_id in _decode(event.data).jobs

    async def edit(
        self,
        *,
        name: str | None = None,
        attributes: Mapping[str, str | None] | None = None,
        priority: int | None = None,
    ) -> Answer:
        """Change its name, its attributes or its priority; return the document.

        A running job has a new priority for its next attempt. Raise `JobEnded` for that of one
        that has ended; nothing is changed then.

        Args:
            name: The new name; default: unchanged.
            attributes: Those to set, and with `None` as value those to remove; the others stay.
            priority: Higher first, among one user's jobs, from -1000 to 1000; None: unchanged.
        """
        patch = patch_of(name, attributes, priority)
        return await self._api.edit_job(self.batch_id, self.job_id, patch)

    async def cancel(self) -> "answers.JobCancelled":
        """Cancel this job; what depends on it is cancelled, too."""
        return await self._api.cancel_job(self.batch_id, self.job_id)

    async def retry(self) -> int:
        """Run it again, although it failed or was cancelled, with all its tries; return how many
        jobs run again: those that were cancelled because of it do, too.

        Raise `JobNotFailed`; `ParentFailed` if it needs a parent that did not succeed.
        """
        return await retried(
            self._api, self.batch_id, jobs=[self.job_id], title=self.ref.shown(), shown=False
        )

    async def acknowledge(self, note: str) -> int:
        """Say that a person has seen to its failure: it leaves the dead letters, and the note
        stays in its history. Return 1; 0 if it is no dead letter.
        """
        return await self._api.acknowledge_failures(self.batch_id, note, jobs=[self.job_id])

    async def answer(
        self, values: Mapping[str, Any] | None = None, *, approve: bool = True, note: str = ""
    ) -> Answer:
        """Answer it, if it waits for an approval or an event: it succeeds, or fails if it is not
        approved. Raise `NotWaiting` if it waits for no answer, or has another.

        Args:
            values: What its form asks for.
            approve: Let it succeed.
            note: Why, for its history.
        """
        return await self._api.answer_job(
            self.batch_id, self.job_id, approve=approve, values=values, note=note
        )

    async def exec(self, command: Sequence[str], *, stdin: bytes = b"") -> Execution:
        """Run a command beside it while it runs, as its user and in its directory, environment and
        cgroup; return `exit_code`, `stdout` and `stderr`. Raise `JobNotRunning`, `ExecElsewhere`.
        """
        begun = await self._api.begin_exec(self.batch_id, self.job_id, command)
        return await begun.run(stdin)

    async def log(self, *, stream: Stream = "both", attempt: int | None = None) -> str:
        """Return what the job has written so far; warn if the middle of it was not kept.

        Args:
            stream: `stdout`, `stderr` or both, interleaved as they were read.
            attempt: Number of the attempt; default: the last one.
        """
        pieces = self._api.read_log(
            self.batch_id, self.job_id, stream=stream, attempt=attempt, on_cut=self._warn_of_cut
        )
        return b"".join([piece async for piece in pieces]).decode("utf-8", "replace")

    def _warn_of_cut(self) -> None:
        warnings.warn(
            f"the middle of the output of {self.ref.shown()} was left out: it is longer than what "
            "its worker keeps (`stream_bytes_max`)",
            stacklevel=2,
        )

    async def note(self, title: str) -> bytes:
        """Return what it says about itself under a title, as it has written it."""
        return await self._api.read_note(self.batch_id, self.job_id, title)

    def follow_log(
        self, *, stream: Stream = "both", attempt: int | None = None
    ) -> AsyncGenerator[LogEvent, None]:
        """Yield output as it comes. The last event is `end`: state, reason, exit code, signal."""
        return self._api.follow_log(self.batch_id, self.job_id, stream=stream, attempt=attempt)

    async def usage(self, attempt: int) -> Sequence[Answer]:
        """Return samples of what an attempt uses, oldest first: `at_ms` since its start, `cpu_ms`
        until then, `memory_bytes` then. Empty: it was too short, or its runner measures nothing.
        """
        found = await self._api.attempt_usage(self.batch_id, self.job_id, attempt)
        return [*map(Answer, found["samples"])]


class _Jobs(msgspec.Struct):
    """The jobs that an event names."""

    jobs: list[int]


def _has_ended(document: Document) -> bool:
    return document["state"] in ENDED_WORDS


_decode = msgspec.json.Decoder(_Jobs).decode
