"""Follow the output of a job while it runs: from its first byte, or where a client was cut off."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from weft.api.feeds import Changes, Feed
from weft.api.services import Services
from weft.api.use_cases.output import Outputs, missing_output
from weft.core.errors import Unavailable
from weft.core.problems import problem_document
from weft.core.states import ENDED_WORDS
from weft.ports.log_store import AttemptLog
from weft.ports.patience import end_tasks
from weft.ports.store import Caller, Row
from weft.wire.log_format import CUT, CUT_BODY, STDERR, STDOUT, Piece, count_pieces

_NAMES: Final = {STDOUT: "stdout", STDERR: "stderr"}
AWAY_S: Final = 0.5
QUIET_S: Final = 15.0
"""After this time without output a follower hears that there is none."""


@dataclass(frozen=True)
class FollowPosition:
    """A follower has got this many pieces of this attempt."""

    attempt: int = 0
    n_pieces: int = 0


class Written(NamedTuple):
    """Bytes that the job wrote."""

    position: FollowPosition
    stream: str
    data: bytes


class Gap(NamedTuple):
    """Bytes that the job wrote and that were not kept."""

    position: FollowPosition
    stream: str
    n_bytes: int


class End(NamedTuple):
    """How the attempt ended, or the job if it had none."""

    facts: Mapping[str, Any]


Followed = Written | Gap | End


@dataclass
class Follower:
    """One followed job. `attempt` None: all from the present one on; `stream` None: both."""

    services: Services
    caller: Caller
    batch_id: int
    job_id: int
    attempt: int | None
    stream: str | None
    at: FollowPosition

    def __post_init__(self) -> None:
        self._outputs = Outputs(self.services, self.caller, self.batch_id)

    async def items(self) -> AsyncGenerator[Sequence[Followed]]:
        """Yield what comes, an `End` last, and an empty sequence after `QUIET_S` without anything.
        When the server stops there is no `End`.
        """
        async with self.services.feeds.open(self.caller) as feed:
            while not self._is_over():
                try:
                    async for items in self._step(feed):
                        yield items
                        if items and isinstance(items[-1], End):
                            return
                except Unavailable:
                    await feed.changed(AWAY_S)

    def _is_over(self) -> bool:
        return self.services.closing.is_set()

    async def _step(self, feed: Feed) -> AsyncIterator[Sequence[Followed]]:
        """Look up the job, yield what there is, and wait until something may have changed."""
        # Taken before the look: what happens in between ends the wait below.
        changes = feed.next_changes(self.batch_id)
        log = await self._outputs.find(self.job_id, self.attempt)
        if log is not None:
            if log.attempt != self.at.attempt:
                self.at = FollowPosition(log.attempt)
            if not log.ended:
                if not self._is_elsewhere(log):
                    async for items in self._live(log, feed, changes):
                        yield items
                elif not await self._is_told(feed, changes):
                    yield ()
                return
            if not self._is_elsewhere(log):
                async for items in self._stored(log):
                    yield items
        job = await self.services.store.get_job(self.caller, self.batch_id, self.job_id)
        if self.attempt is not None or job["state"] in ENDED_WORDS:
            if not await self._has_later(log, job):
                yield [self._end(log, job)]
        elif not await self._is_told(feed, changes):
            yield ()

    def _is_elsewhere(self, log: AttemptLog) -> bool:
        return missing_output(self.services.logs, log) is not None

    def _end(self, log: AttemptLog | None, job: Row) -> End:
        facts = {name: job.get(name) for name in ("reason", "exit_code", "signal", "message")}
        if "outputs_of" in job:
            facts["outputs_of"] = job["outputs_of"]
        if log is None:
            return End({"state": job["state"], "attempt": None, **facts})
        facts |= {
            name: getattr(log, name) for name in ("reason", "exit_code", "signal", "message")
        }
        if (missing := missing_output(self.services.logs, log)) is not None:
            facts["problem"] = problem_document(missing, trace_id="")
        return End({"state": job["state"], "attempt": log.attempt, **facts})

    async def _has_later(self, log: AttemptLog | None, job: Row) -> bool:
        """Say whether the job has started (again) and ended since `log` was looked up."""
        known = log.attempt if log is not None else None
        if self.attempt is not None or job["attempt"] in {None, known}:
            return False
        last = await self._outputs.find(self.job_id, None)
        return last is not None and last.attempt != known

    async def _stored(self, log: AttemptLog) -> AsyncIterator[Sequence[Followed]]:
        """Yield what an ended attempt has left."""
        async for pieces in self.services.logs.pieces(log, self.at.n_pieces):
            if items := [item for piece in pieces for item in self._item(piece)]:
                yield items

    async def _live(
        self, log: AttemptLog, feed: Feed, changes: Changes
    ) -> AsyncIterator[Sequence[Followed]]:
        """Yield what a running attempt writes, until an event names the job."""
        coming = aiter(self.services.logs.follow(log, self.at.n_pieces))
        pieces: asyncio.Task[Sequence[Piece]] = asyncio.ensure_future(anext(coming))
        news = asyncio.create_task(self._told(feed, changes))
        try:
            while not self._is_over():
                await asyncio.wait({pieces, news}, timeout=QUIET_S, return_when="FIRST_COMPLETED")
                if pieces.done():
                    try:
                        items = [item for piece in pieces.result() for item in self._item(piece)]
                    except StopAsyncIteration:
                        await news
                        return
                    if items:
                        yield items
                    pieces = asyncio.ensure_future(anext(coming))
                elif news.done():
                    news.result()
                    return
                else:
                    yield ()
        finally:
            await end_tasks((news, pieces))
            if (close := getattr(coming, "aclose", None)) is not None:
                await close()

    async def _is_told(self, feed: Feed, changes: Changes) -> bool:
        """Wait for news of this job; False after `QUIET_S` without any."""
        try:
            async with asyncio.timeout(QUIET_S):
                await self._told(feed, changes)
        except TimeoutError:
            return False
        return True

    async def _told(self, feed: Feed, changes: Changes) -> None:
        """Return when an event names this job, or the stream is to end."""
        while not self._is_over():
            await changes.happened(None)
            if changes.names(self.batch_id, self.job_id):
                return
            changes = feed.next_changes(self.batch_id)

    def _item(self, piece: Piece) -> Sequence[Followed]:
        """Return one piece as an item; nothing for one of another stream, which counts, too."""
        self.at = FollowPosition(self.at.attempt, self.at.n_pieces + count_pieces(piece))
        if piece.kind == CUT:
            stream, count, _ = CUT_BODY.unpack(piece.data)
            name = _NAMES.get(stream, "stdout")
            if count and self.stream in {None, name}:
                return [Gap(self.at, name, count)]
            return ()
        name = _NAMES[piece.kind]
        if self.stream not in {None, name}:
            return ()
        return [Written(self.at, name, piece.data)]
