"""The ends of many jobs of one batch, told as they happen: nothing is polled."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import aclosing
from typing import Any, Generic, Protocol, TypeVar

from weft.client.api import RESULTS_AT_ONCE, Api, ResultRow
from weft.client.http.calls import decode
from weft.client.http.sse import ServerEvent
from weft.core.states import ENDED_WORDS, JobState


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
