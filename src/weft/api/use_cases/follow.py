"""Follow the output of a job while it runs: from its first byte, or where a client was cut off, to
its end.
"""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, Final

from weft.api.feeds import Changes, Feed
from weft.api.http.sse import KEEP_ALIVE, KEEP_ALIVE_S, message
from weft.api.services import Services
from weft.api.use_cases.output import Outputs
from weft.core.errors import Unavailable
from weft.core.states import ENDED_WORDS
from weft.ports.store import Caller, LogPlace, Row
from weft.telemetry import metrics
from weft.wire.log_format import CUT, CUT_BODY, STDERR, STDOUT, Piece, count_pieces

_NAMES: Final = {STDOUT: "stdout", STDERR: "stderr"}
AWAY_S: Final = 0.5


@dataclass
class Place:
    """Where a follower stands: so many pieces of that attempt are sent."""

    attempt: int = 0
    n_pieces: int = 0


class Follower:
    """One followed job. `attempt` None: all its attempts from the present one on; `stream` None:
    both.
    """

    def __init__(
        self,
        services: Services,
        caller: Caller,
        batch_id: int,
        job_id: int,
        *,
        attempt: int | None,
        stream: str | None,
        at: Place,
    ) -> None:
        self._services = services
        self._store = services.store
        self._logs = services.logs
        self._caller = caller
        self._batch_id = batch_id
        self._job_id = job_id
        self._wanted = attempt
        self._stream = stream
        self._at = at
        self._outputs = Outputs(services, caller, batch_id)

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the messages, the last of kind `end`; without one the server was stopped."""
        with metrics.HTTP_STREAMS.labels("log").track_inprogress():
            yield b": connected\n\n"
            async with self._services.feeds.open(self._caller) as feed:
                while not self._services.closing.is_set():
                    try:
                        async for piece in self._step(feed):
                            yield piece
                            if piece.startswith(b"event: end\n"):
                                return
                    except Unavailable:
                        await feed.changed(AWAY_S)

    async def _step(self, feed: Feed) -> AsyncIterator[bytes]:
        """Look where the job stands, send what there is, and wait until something may have
        changed.
        """
        # Taken before looking: what happens in between wakes the wait below.
        changes = feed.next_changes()
        place = await self._outputs.find(self._job_id, self._wanted)
        if place is not None:
            if place.attempt != self._at.attempt:
                self._at = Place(place.attempt)
            if not place.ended:
                async for piece in self._live(place, feed, changes):
                    yield piece
                return
            async for piece in self._stored(place):
                yield piece
        job = await self._store.get_job(self._caller, self._batch_id, self._job_id)
        if self._wanted is not None or job["state"] in ENDED_WORDS:
            if not await self._has_later(place, job):
                yield _end(place, job)
        elif not await self._is_told(feed, changes):
            yield KEEP_ALIVE

    async def _has_later(self, place: LogPlace | None, job: Row) -> bool:
        """Say whether the job has started (again) and ended since `place` was looked up."""
        known = place.attempt if place is not None else None
        if self._wanted is not None or job["attempt"] in {None, known}:
            return False
        last = await self._outputs.find(self._job_id, None)
        return last is not None and last.attempt != known

    async def _stored(self, place: LogPlace) -> AsyncIterator[bytes]:
        """Send what an ended attempt has left."""
        pieces = self._logs.pieces(place, self._at.n_pieces)
        while block := await asyncio.to_thread(_some, pieces):
            yield b"".join(self._message(piece) for piece in block)

    async def _live(self, place: LogPlace, feed: Feed, changes: Changes) -> AsyncIterator[bytes]:
        """Send what a running attempt writes, until an event names the job."""
        coming = aiter(self._logs.follow(place, self._at.n_pieces))
        piece: asyncio.Task[Piece] = asyncio.ensure_future(anext(coming))
        news = asyncio.create_task(self._told(feed, changes))
        try:
            while not self._services.closing.is_set():
                await asyncio.wait(
                    {piece, news}, timeout=KEEP_ALIVE_S, return_when="FIRST_COMPLETED"
                )
                if piece.done():
                    try:
                        yield self._message(piece.result())
                    except StopAsyncIteration:
                        await news
                        return
                    piece = asyncio.ensure_future(anext(coming))
                elif news.done():
                    return
                else:
                    yield KEEP_ALIVE
        finally:
            await _end_task(news)
            await _end_task(piece)
            if (close := getattr(coming, "aclose", None)) is not None:
                await close()

    async def _is_told(self, feed: Feed, changes: Changes) -> bool:
        """Wait for news of this job; False if there are none for a while."""
        try:
            async with asyncio.timeout(KEEP_ALIVE_S):
                await self._told(feed, changes)
        except TimeoutError:
            return False
        return True

    async def _told(self, feed: Feed, changes: Changes) -> None:
        """Return when an event names this job, or the server stops."""
        while not self._services.closing.is_set():
            await changes.happened(None)
            if changes.names(self._batch_id, self._job_id):
                return
            changes = feed.next_changes()

    def _message(self, piece: Piece) -> bytes:
        """Encode one piece. One of another stream is left out, but counted."""
        self._at.n_pieces += count_pieces(piece)
        id_ = f"{self._at.attempt}.{self._at.n_pieces}"
        if piece.kind == CUT:
            stream, count, _ = CUT_BODY.unpack(piece.data)
            name = _NAMES.get(stream, "stdout")
            if count and self._stream in {None, name}:
                return message({"stream": name, "bytes": count}, kind="cut", id_=id_)
            return b""
        name = _NAMES[piece.kind]
        if self._stream not in {None, name}:
            return b""
        data = base64.b64encode(piece.data)
        return b"id: %s\nevent: %s\ndata: %s\n\n" % (id_.encode(), name.encode(), data)


def _end(place: LogPlace | None, job: Row) -> bytes:
    """Return the last message: how the attempt ended, or the job if it had none."""
    facts = {name: job.get(name) for name in ("reason", "exit_code", "signal", "message")}
    if place is not None:
        facts = {name: getattr(place, name) for name in facts}
    attempt = None if place is None else place.attempt
    return message({"state": job["state"], "attempt": attempt, **facts}, kind="end")


def _some(pieces: Iterator[Piece]) -> list[Piece]:
    """Return the next pieces, about as many as one write takes."""
    block: list[Piece] = []
    size = 0
    for piece in pieces:
        block.append(piece)
        size += len(piece.data)
        if size >= 128 * 1024:
            break
    return block


async def _end_task(task: asyncio.Future[Any]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
        await task
