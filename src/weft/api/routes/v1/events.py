"""`/v1/events`: what happens, as server-sent events that can be resumed."""

import re
from collections.abc import AsyncIterator
from time import monotonic
from typing import Final

from litestar import get
from litestar.response import Stream

from weft.api.feeds import Feed, Position, remembered
from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.requests import AnyRequest, caller_of, services_of, trace_id_of
from weft.api.http.sse import KEEP_ALIVE, KEEP_ALIVE_S, message, stream_reply
from weft.api.services import Services
from weft.core.errors import EventsGone, Unavailable
from weft.core.ids import parse_batch_id
from weft.core.problem_document import problem_document
from weft.ports.store import Caller
from weft.telemetry import metrics
from weft.wire.answers import Event

CATCH_UP_ROWS: Final = 500
_POSITION: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")


@get(
    "/v1/events", opt={"stream": Event, "query": ("batch", "since"), "headers": ("Last-Event-ID",)}
)
async def stream_events(request: AnyRequest) -> Stream:
    """Stream events: of one batch or of all; after the header `Last-Event-ID`, else after `since`,
    else from now on.
    """
    query = Query(request, ("batch", "since"))
    services, caller = services_of(request), caller_of(request)
    after = _position("Last-Event-ID", request.headers.get("last-event-id"))
    after = after or _position("since", query.text("since"))
    batch = query.text("batch")
    batch_id = None if batch is None else parse_batch_id(batch)
    if batch_id is not None:
        await services.store.get_batch(caller, batch_id)
    if after is None:
        after = await services.store.events_now()
    else:  # an id that is too old is told by the status, not in the stream
        await services.store.list_events(caller, after=after, batch_id=batch_id, limit=1)
    stream = _Stream(services, caller, batch_id, after, trace_id_of(request))
    return stream_reply(stream.messages())


def _position(name: str, text: str | None) -> Position | None:
    if text is None:
        return None
    match = _POSITION.fullmatch(text)
    if match is None:
        raise wrong_parameter(name, f"{text[:40]!r} is not the id of an event")
    return int(match[1]), int(match[2])


class _Stream:
    """One stream, wherever it stands."""

    def __init__(
        self,
        services: Services,
        caller: Caller,
        batch_id: int | None,
        after: Position,
        trace_id: str,
    ) -> None:
        self._services = services
        self._caller = caller
        self._batch_id = batch_id
        self._position = after
        self._trace_id = trace_id
        self._spoke_at = monotonic()

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield what is to be sent, until the server stops."""
        with metrics.HTTP_STREAMS.labels("events").track_inprogress():
            # The id lets a client resume even if it is cut off before the first event.
            yield b"id: %d-%d\n: connected\n\n" % self._position
            async with self._services.feeds.open(self._caller) as feed:
                while not self._services.closing.is_set():
                    try:
                        async for piece in self._next(feed):
                            yield piece
                            self._spoke_at = monotonic()
                    except EventsGone as error:
                        yield message(problem_document(error, self._trace_id), kind="error")
                        return

    async def _next(self, feed: Feed) -> AsyncIterator[bytes]:
        if feed.position is not None and feed.reaches(self._position):
            new = feed.since(self._position)
            self._position = max(self._position, feed.position)
            if new:
                wanted = [e.message for e in new if self._batch_id in {None, e.batch_id}]
                if wanted:
                    yield b"".join(wanted)
            elif not await feed.changed(self._keep_alive_s()):
                yield KEEP_ALIVE
        elif feed.position is None:
            if not await feed.changed(self._keep_alive_s()):
                yield KEEP_ALIVE
        else:
            async for piece in self._catch_up(feed):
                yield piece

    def _keep_alive_s(self) -> float:
        """Return how long the client may still hear nothing. Events of other batches change the
        feed, too, and say nothing to it.
        """
        return max(0.0, self._spoke_at + KEEP_ALIVE_S - monotonic())

    async def _catch_up(self, feed: Feed) -> AsyncIterator[bytes]:
        """Read from the database what is older than the feed's memory."""
        known = feed.position
        try:
            rows, position = await self._services.store.list_events(
                self._caller, after=self._position, batch_id=self._batch_id, limit=CATCH_UP_ROWS
            )
        except Unavailable:
            if not await feed.changed(1.0):
                yield KEEP_ALIVE
            return
        if known is not None and len(rows) < CATCH_UP_ROWS:
            position = max(position, known)  # nothing lies between, so go on with the feed
        self._position = position
        if rows:
            yield b"".join(remembered(row).message for row in rows)


ROUTES = (stream_events,)
