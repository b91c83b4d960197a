"""The whole HTTP api as methods: one per route, and the streams, uploads and waits made of them.

This is what the command line and the objects of `weft.aio` are built on.
"""

import base64
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing, suppress
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, TypeVar, Unpack

import msgspec

from weft.client.answer import Answer
from weft.client.generated.calls import Calls
from weft.client.http.address import Locator
from weft.client.http.blocking import asyncio, need_loop
from weft.client.http.calls import Document, decode
from weft.client.http.connection import ConnectionLost, until_silent
from weft.client.http.problems import to_error
from weft.client.http.session import (
    PATIENCE_S,
    WAIT_PATIENCE_S,
    HttpSession,
    Patience,
    Query,
    waiting,
)
from weft.client.http.sse import EventParser, ServerEvent
from weft.client.routes import Routes, Stream, log_path
from weft.client.waiting import wait_beside
from weft.core.bounded import ENVELOPE_DEPTH_MAX, read_json
from weft.core.errors import EventsGone
from weft.core.text.number_ranges import format_ranges

__all__ = ["PATIENCE_S", "WAIT_PATIENCE_S", "Api", "Document", "LogEvent", "Stream"]

Seen = TypeVar("Seen", bound=Document)
SILENCE_MAX_S = 45.0
"""The server sends a comment every 15 s; a longer silence is a connection that died without a
word.
"""
WATCH_PAUSE_S = 0.5
"""Faster updates are not visible to a person."""
END_PAUSE_S = 0.01
RECONNECT_PAUSE_S = 0.05
RESULTS_AT_ONCE = 500
"""The number of job numbers that always fits a request line."""


class LogEvent(NamedTuple):
    """A piece of a followed log: `stdout` or `stderr` with data; `cut` (bytes left out); `end`."""

    kind: str
    data: bytes
    facts: Document
    attempt: int | None
    """A job whose worker was lost starts again: its output starts over with another attempt."""


class ResultRow(msgspec.Struct, kw_only=True):
    """What the function of one job returned, and how the job ended. Bytes are as its `form` says:
    `pickle` or `json`; `error` is always pickled.
    """

    job_id: int
    batch_id: int = 0
    """Filled in by `Api.results`: the answer does not repeat it."""
    attempt: int | None
    state: str
    reason: str | None
    exit_code: int | None
    signal: int | None
    message: str | None
    form: str | None
    """None: it left no result."""
    seconds: float | None
    traceback: str | None
    value: bytes | None
    error: bytes | None
    problem: dict[str, Any] | None = None
    """Why the server cannot read its result, as a problem document."""


class Api(Routes, Calls):
    """The api of a weft server.

    `url` and `token` default to `WEFT_URL` and `WEFT_TOKEN`, then to what `weft up` wrote into
    the home; `visit` to `WEFT_VISIT`: it names another tenant, into which administrators of the
    site look. `patience_s`: how long requests are repeated while the server is away;
    `wait_patience_s`: those of `watch`, `events` and `follow_log`. A server that was never
    reached is not waited for.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        home: Path | None = None,
        visit: str | None = None,
        **patience: Unpack[Patience],
    ) -> None:
        locator = Locator(url, token, home, visit)
        super().__init__(HttpSession(locator, **patience))

    async def submit(
        self, document: Document, *, on_sent: Callable[[int], None] | None = None
    ) -> Answer:
        """Create a batch with all its jobs, however many, and commit it.

        A small document goes in one request, a large one in parallel bunches, with names of
        parents and paths of groups turned into numbers here. `on_sent` is told how many jobs a
        bunch held.
        """
        from weft.client.submission.ahead import sent_ahead  # noqa: PLC0415 (5 ms)
        from weft.client.submission.upload import is_small  # noqa: PLC0415 (5 ms)

        jobs = document.get("jobs")
        ahead = sent_ahead(jobs) if isinstance(jobs, list | tuple) else {}
        if not ahead and is_small(document):
            return await self.create_batch(document)
        from weft.client.submission.document import submit  # noqa: PLC0415 (10 ms)

        return Answer(await submit(self, document, ahead, on_sent=on_sent))

    def watch_batch(self, batch_id: int) -> AsyncGenerator[Answer, None]:
        """Yield the batch document now and whenever something changed; the last one is complete.

        Driven by events; while many come, the document is read every `WATCH_PAUSE_S`.
        """
        return self.watch(batch_id, lambda: self.get_batch(batch_id))

    async def watch(
        self,
        batch_id: int | None,
        look: Callable[[], Awaitable[Seen]],
        *,
        is_last: Callable[[Seen], bool] = lambda document: bool(document["complete"]),
        wanted: Callable[[ServerEvent], bool] | None = None,
    ) -> AsyncGenerator[Seen, None]:
        """Yield what `look` returns, now and after each `wanted` event of the batch (none: after
        all), until one `is_last`. No batch: events of all that the user may see.

        Nothing that happens after the first look is missed. While many events come, `look` is
        called every `WATCH_PAUSE_S`, or, if only some are wanted, every `END_PAUSE_S`; at once
        when something happened to more than a job, such as a completion.
        """
        await need_loop()
        pause_s = WATCH_PAUSE_S if wanted is None else END_PAUSE_S
        changed, opened, at_once = asyncio.Event(), asyncio.Event(), asyncio.Event()

        def note(event: ServerEvent) -> None:
            if wanted is None or wanted(event):
                changed.set()
            if not event.kind.startswith("jobs."):
                at_once.set()

        def note_opened() -> None:
            opened.set()
            changed.set()

        listener = asyncio.create_task(self.listen(batch_id, note, lambda _has_gap: note_opened()))
        try:
            await wait_beside(opened, listener)
            while True:
                changed.clear()
                at_once.clear()
                looked_at = monotonic()
                with waiting():
                    document = await look()
                yield document
                if is_last(document):
                    return
                await wait_beside(changed, listener)
                with suppress(TimeoutError):
                    async with asyncio.timeout(max(0.0, looked_at + pause_s - monotonic())):
                        await at_once.wait()
        finally:
            listener.cancel()

    async def listen(
        self,
        batch_id: int | None,
        note: Callable[[ServerEvent], None],
        opened: Callable[[bool], None],
    ) -> None:
        """Note each event of a batch, for ever. `opened` is called whenever a stream of them
        begins, with whether events are missing since the one before it.
        """
        has_gap = False

        def begin() -> None:
            nonlocal has_gap
            opened(has_gap)
            has_gap = False

        while True:
            events = self._server_events("/v1/events", {"batch": batch_id}, opened=begin)
            try:
                async with aclosing(events):
                    async for event in events:
                        note(event)
            except EventsGone:
                # The connection was away for longer than events are kept. A new stream starts now.
                has_gap = True
                await asyncio.sleep(RECONNECT_PAUSE_S)

    async def follow_log(
        self, batch_id: int, job_id: int, *, stream: Stream = "both", attempt: int | None = None
    ) -> AsyncGenerator[LogEvent, None]:
        """Yield the output of a job while it is written. The last event is `end`: state, reason,
        exit code, signal.

        Raise `OutputElsewhere` after the end if the server cannot read what the job wrote.
        """
        query: Query = {"stream": stream, "attempt": attempt, "follow": True}
        path = log_path(batch_id, job_id)
        events = self._server_events(path, query, is_last=lambda event: event.kind == "end")
        async with aclosing(events):
            async for event in events:
                attempt = int(event.last_id.partition(".")[0] or 0) or None
                if event.kind in {"stdout", "stderr"}:
                    yield LogEvent(event.kind, base64.b64decode(event.data), {}, attempt)
                else:
                    facts = decode(event.data)
                    yield LogEvent(event.kind, b"", facts, attempt)
                    if event.kind == "end" and "problem" in facts:
                        raise to_error(0, facts["problem"])

    async def events(
        self,
        batch_id: int | None = None,
        *,
        since: str | None = None,
        opened: Callable[[], None] | None = None,
    ) -> AsyncGenerator[Answer, None]:
        """Yield events: those after `since`, or those from now on; without an end, across
        restarts of the server.

        `opened` is called when the server is listening for events: what happens after that call
        will be yielded.
        """
        query: Query = {"batch": batch_id, "since": since}
        events = self._server_events("/v1/events", query, opened=opened)
        async with aclosing(events):
            async for event in events:
                yield Answer(decode(event.data))

    async def outputs(
        self, batch_id: int, first: int, last: int
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the outputs of those jobs `first..last` (at most 1000) that have ended, in order.

        Keys: `job_id, attempt, state, reason, exit_code, signal, stdout, stderr, truncated`; the
        streams are bytes. `problem`, a problem document, is there if the server cannot read what
        the job wrote. One job's output is in memory at a time.
        """
        while first <= last:
            reply = await self._session.stream(
                f"/v1/batches/{batch_id}/outputs", query={"first": first, "last": last}
            )
            try:
                async with reply:
                    async for line in _lines(reply.chunks()):
                        row: dict[str, Any] = decode(line)
                        row["stdout"] = base64.b64decode(row["stdout"])
                        row["stderr"] = base64.b64decode(row["stderr"])
                        yield row
                        first = int(row["job_id"]) + 1
            except ConnectionLost:
                await asyncio.sleep(RECONNECT_PAUSE_S)
            else:
                return

    async def results(self, batch_id: int, jobs: Iterable[int]) -> AsyncGenerator[ResultRow, None]:
        """Yield what the functions of those of these jobs returned that have ended, in order.

        One job's result is in memory at a time.
        """
        left = set(jobs)
        while left:
            asked = sorted(left)[:RESULTS_AT_ONCE]
            query: Query = {"jobs": format_ranges(asked)}
            reply = await self._session.stream(f"/v1/batches/{batch_id}/results", query=query)
            try:
                async with reply:
                    async for line in _lines(reply.chunks()):
                        row: ResultRow = read_json(line, ResultRow, depth_max=ENVELOPE_DEPTH_MAX)
                        row.batch_id = batch_id
                        left.discard(row.job_id)
                        yield row
            except ConnectionLost:
                await asyncio.sleep(RECONNECT_PAUSE_S)
            else:
                left.difference_update(asked)

    async def _server_events(
        self,
        path: str,
        query: Query,
        *,
        is_last: Callable[[ServerEvent], bool] | None = None,
        opened: Callable[[], None] | None = None,
    ) -> AsyncGenerator[ServerEvent, None]:
        """Yield server-sent events; a broken stream is taken up after the last that was seen.

        An event of kind `error` carries a problem document, which is raised.
        """
        parser = EventParser()
        while True:
            resume = [("last-event-id", parser.last_id)] if parser.last_id else []
            with waiting():
                reply = await self._session.stream(
                    path, query=query, headers=[("accept", "text/event-stream"), *resume]
                )
            if opened is not None:
                opened()
            try:
                async with reply:
                    async for chunk in until_silent(reply.chunks(), SILENCE_MAX_S):
                        for event in parser.feed(chunk):
                            if event.kind == "error":
                                raise to_error(0, event.data.encode())
                            yield event
                            if is_last is not None and is_last(event):
                                return
            except (ConnectionLost, TimeoutError):
                pass
            parser = EventParser(parser.last_id)
            # A server that is stopping ends its streams; the next one needs a moment.
            await asyncio.sleep(RECONNECT_PAUSE_S)


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield whole lines. A long one is collected in parts, not copied at each chunk."""
    parts: list[bytes] = []
    async for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            yield b"".join([*parts, line])
            parts = []
        if rest:
            parts.append(rest)
