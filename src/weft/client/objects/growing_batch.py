"""A batch that grows as long as a program runs, and the ends of its jobs as they happen."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

from weft.client.api import RESULTS_AT_ONCE, Api, Document, ResultRow
from weft.client.http.calls import decode
from weft.client.http.sse import ServerEvent
from weft.client.submission.upload import cut_bunches
from weft.core.errors import Conflict, InvalidDocument, NotFound
from weft.core.ids import format_job_ref
from weft.core.states import ENDED_WORDS, JobState
from weft.ports.patience import end_tasks


class Claimable(Protocol):
    """Who is told of a job."""

    @property
    def on_claimed(self) -> Callable[[], None]:
        """Called when a worker has taken the job."""


Followed = TypeVar("Followed", bound=Claimable)


class Ends(Generic[Followed]):
    """Callbacks by job of a batch.

    `is_sending` says whether requests are under way whose jobs have no numbers yet: such a job may
    end before it is added.
    """

    def __init__(
        self,
        api: Api,
        *,
        on_end: Callable[[Followed, ResultRow], None],
        is_sending: Callable[[], bool],
    ) -> None:
        self._api = api
        self._on_end = on_end
        self._is_sending = is_sending
        self.by_job: dict[int, Followed] = {}
        self.is_followed = asyncio.Event()
        self._early: dict[int, str] = {}
        """States of jobs that started or ended before they were added."""
        self._ended: set[int] = set()
        self._to_fetch = asyncio.Event()

    def add(self, followed: Mapping[int, Followed]) -> None:
        """Wait for jobs, by their numbers."""
        self.by_job.update(followed)
        for job_id in self._early.keys() & followed.keys():
            self._learn(self._early.pop(job_id), (job_id,))
        if not self._is_sending():
            self._early.clear()

    def drop(self, job_id: int) -> None:
        """Wait for a job no longer."""
        self.by_job.pop(job_id, None)
        self._ended.discard(job_id)

    def ask(self, jobs: Iterable[int]) -> None:
        """Ask for these, which may have ended long ago."""
        self._ended.update(jobs)
        self._to_fetch.set()

    def loops(self, batch_id: int) -> tuple[Coroutine[Any, Any, None], ...]:
        """Return what follows which jobs are claimed and which end, until it is cancelled."""
        listening = self._api.listen(batch_id, self._note, self._opened)
        return listening, self._fetch_all(batch_id)

    def _opened(self, has_gap: bool) -> None:  # noqa: FBT001 (a callback of one argument)
        self.is_followed.set()
        if has_gap:
            self.ask(self.by_job)

    def _note(self, event: ServerEvent) -> None:
        document = decode(event.data)
        self._learn(document["to"], document["jobs"] or ())

    def _learn(self, state: str | None, jobs: Iterable[int]) -> None:
        has_ended = state in ENDED_WORDS
        if state is None or not (has_ended or state == JobState.RUNNING.word):
            return
        for job_id in jobs:
            if job_id not in self.by_job:
                if self._is_sending():
                    self._early[job_id] = state
            elif has_ended:
                self.ask((job_id,))
            else:
                self.by_job[job_id].on_claimed()

    async def _fetch_all(self, batch_id: int) -> None:
        while True:
            await self._to_fetch.wait()
            self._to_fetch.clear()
            while self._ended:
                jobs = sorted(self._ended)[:RESULTS_AT_ONCE]
                self._ended.difference_update(jobs)
                async with aclosing(self._api.results(batch_id, jobs)) as rows:
                    async for row in rows:
                        followed = self.by_job.pop(row.job_id, None)
                        if followed is not None:
                            self._on_end(followed, row)


_LOOK_S: Final = 0.002
_LOOKS_MAX: Final = 5
"""Jobs are collected while more come at each look, or a request is under way: a caller that waits
for each answer waits for one look.
"""
_CANCELS: Final = 8


@dataclass(frozen=True, eq=False)
class Submitted:
    """One job. Wait for its futures, or add callbacks to them; a callback runs in the thread of
    the event loop and must not wait.
    """

    ref: "Future[str]" = field(default_factory=Future)
    """What others call it, such as `b4.j7`; an error if the server refuses it."""
    claimed: "Future[None]" = field(default_factory=Future)
    """A worker has taken it; not set if nobody heard of that before its end."""
    end: "Future[ResultRow]" = field(default_factory=Future)
    """How it ended: `state`, `reason`, `exit_code`, `signal`."""
    also: "list[Submitted]" = field(default_factory=list)
    """Others that wait for the same job."""

    def __post_init__(self) -> None:
        for future in (self.ref, self.claimed, self.end):
            future.set_running_or_notify_cancel()  # `Future.cancel` would cancel no job

    def on_claimed(self) -> None:
        """Note that a worker has taken it, the first one."""
        for each in (self, *self.also):
            if not each.claimed.done():
                each.claimed.set_result(None)

    def fail(self, error: BaseException) -> None:
        """Note that nothing will be heard of it."""
        for future in (self.ref, self.end):
            if not future.done():
                future.set_exception(error)


class GrowingBatch:
    """Everything here runs in one event loop."""

    def __init__(self, api: Api, batch: Document, environment: Document) -> None:
        self._api = api
        self._batch = batch
        self._environment = environment
        self._id: int | None = None
        self._finding = asyncio.Lock()
        self.live: set[Submitted] = set()
        """Those whose ends are not known."""
        self._collected: list[tuple[Document, Submitted]] = []
        self._unanswered = 0
        self._ends: dict[int, Ends[Submitted]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(self, job: Document, submitted: Submitted) -> None:
        """Send a job with all that are submitted within a moment."""
        self.live.add(submitted)
        self._collected.append((job, submitted))
        if len(self._collected) == 1:
            self._look_later(1)

    def _look(self, n_before: int, n_looks: int) -> None:
        """Send what is collected, or look again if more has come meanwhile."""
        comes = self._unanswered or len(self._collected) > n_before
        if comes and n_looks < _LOOKS_MAX:
            self._look_later(n_looks + 1)
        else:
            self._send_collected()

    def _look_later(self, n_looks: int) -> None:
        loop, n_now = asyncio.get_running_loop(), len(self._collected)
        loop.call_later(_LOOK_S, self._look, n_now, n_looks)

    def attach(self, batch_id: int, job_id: int, submitted: Submitted) -> None:
        """Follow a job, which may have ended."""
        self.live.add(submitted)
        self._start(self._attach(batch_id, job_id, submitted))

    async def refs_by_name(self) -> Mapping[str, str]:
        """Return the newest job of each name."""
        batch_id = await self._find()
        jobs = self._api.list_jobs(batch_id)
        return {
            job["name"]: format_job_ref(batch_id, job["job_id"])
            async for job in jobs
            if job["name"]
        }

    async def cancel(self, jobs: Sequence[tuple[int, int]]) -> None:
        """Cancel jobs, some at a time; those that have ended stay as they are."""
        free = asyncio.Semaphore(_CANCELS)

        async def cancel_one(batch_id: int, job_id: int) -> None:
            async with free:
                with suppress(NotFound, Conflict):
                    await self._api.cancel_job(batch_id, job_id)

        await asyncio.gather(*(cancel_one(*job) for job in jobs))

    async def cancel_all(self) -> None:
        """Cancel the batch, and what has not been sent."""
        self._fail([submitted for _, submitted in self._collected], CancelledError())
        if self._id is not None:
            await self._api.cancel_batch(self._id)

    async def why(self, job: tuple[int, int] | None) -> str | None:
        """Return the first cause."""
        if job is None and self._id is None:
            return None
        found = await (self._api.why_job(*job) if job else self._api.why_group(self._id or 0))
        return next((str(cause["text"]) for cause in found["causes"]), None)

    async def log(self, job: tuple[int, int], last_bytes: int | None) -> bytes:
        """Return what a job has written."""
        pieces = self._api.read_log(*job, last_bytes=last_bytes)
        return b"".join([piece async for piece in pieces])

    async def close(self) -> None:
        """Follow nothing more."""
        await end_tasks(self._tasks)
        await self._api.close()

    async def _find(self) -> int:
        """Return the newest batch of this name, or make it if there is none that takes jobs."""
        async with self._finding:
            if self._id is None:
                mine = f"user = {json.dumps((await self._api.whoami())['user'])}"
                page = self._api.list_batches(mine, name=self._batch["name"], page_rows=1)
                newest = next(iter(await page.next_page()), None)
                if newest is None or newest["cancelled"]:
                    # The same key: of two processes that ask at once both get one batch.
                    key = f"{self._batch['name']}.{newest['id'] if newest else 0}"
                    newest = await self._api.create_batch(self._batch, key=key)
                self._id = int(newest["id"])
        return self._id

    async def _follow(self, batch_id: int) -> Ends[Submitted]:
        ends = self._ends.get(batch_id)
        if ends is None:
            ends = self._ends[batch_id] = Ends(
                self._api, on_end=self._end, is_sending=lambda: self._unanswered > 0
            )
            for loop in ends.loops(batch_id):
                self._start(loop)
        await ends.is_followed.wait()  # so that no event is missed
        return ends

    def _send_collected(self) -> None:
        collected, self._collected = self._collected, []
        self._start(self._send([one for one in collected if not one[1].end.done()]))

    async def _send(self, collected: Sequence[tuple[Document, Submitted]]) -> None:
        batch_id = await self._find()
        ends = await self._follow(batch_id)
        for bunch in cut_bunches(job for job, _ in collected):
            sent = collected[bunch.first - 1 : bunch.first - 1 + bunch.n_jobs]
            self._unanswered += 1
            document = {"jobs": bunch.jobs, **self._environment}
            try:
                answer = await self._api.create_update(batch_id, document)
            except InvalidDocument as error:
                await self._send(self._accepted(sent, error))
                continue
            except Conflict as error:  # the batch was cancelled, or it is full
                self._fail([submitted for _, submitted in sent], error)
                continue
            finally:
                self._unanswered -= 1
            numbered = dict(enumerate((submitted for _, submitted in sent), answer["first_job"]))
            for job_id, submitted in numbered.items():
                submitted.ref.set_result(format_job_ref(batch_id, job_id))
            ends.add(numbered)

    def _accepted(
        self, sent: Sequence[tuple[Document, Submitted]], error: InvalidDocument
    ) -> Sequence[tuple[Document, Submitted]]:
        """Fail those that the server refuses; return the others. If it names none, all fail."""
        parts = [one.pointer.split("/") for one in error.errors]
        is_named = parts and all(part[1] == "jobs" and part[2:] for part in parts)
        wrong = {int(part[2]) for part in parts} if is_named else range(len(sent))
        self._fail([sent[index][1] for index in wrong], error)
        return [one for index, one in enumerate(sent) if index not in wrong]

    async def _attach(self, batch_id: int, job_id: int, submitted: Submitted) -> None:
        try:
            if batch_id not in self._ends:
                await self._api.get_batch(batch_id)
            ends = await self._follow(batch_id)
            state = (await self._api.get_job(batch_id, job_id))["state"]
        except NotFound as error:
            self._fail([submitted], error)
            return
        if state not in ENDED_WORDS:
            submitted.ref.set_result(format_job_ref(batch_id, job_id))
        known = ends.by_job.get(job_id)
        if known is None:
            ends.add({job_id: submitted})
        else:
            known.also.append(submitted)
        if state == JobState.RUNNING.word:
            submitted.on_claimed()
        elif state in ENDED_WORDS:
            ends.ask((job_id,))

    def _end(self, submitted: Submitted, row: ResultRow) -> None:
        for each in (submitted, *submitted.also):
            self.live.discard(each)
            each.end.set_result(row)
            if not each.ref.done():  # it had ended when it was attached
                each.ref.set_result(format_job_ref(row.batch_id, row.job_id))

    def _fail(self, all_submitted: Iterable[Submitted], error: BaseException) -> None:
        for submitted in all_submitted:
            self.live.discard(submitted)
            submitted.fail(error)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        """Fail all if something cannot be sent or followed: the server is away for too long."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._ends.clear()
            self._id = None
            for other in self._tasks:
                other.cancel()
            self._fail(list(self.live), error)
