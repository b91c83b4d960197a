"""Events as server-sent events."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from weft.api.feeds import Position, Remembered
from weft.api.http.parameter_schemas import EVENT_POSITION
from weft.api.http.parameters import wrong_parameter
from weft.api.http.requests import AnyRequest
from weft.api.http.sse import KEEP_ALIVE, message
from weft.api.use_cases.watch import EventWatch, watch_events
from weft.core.errors import EventsGone
from weft.core.ids import parse_batch_id
from weft.core.problems import problem_document
from weft.ports.store import Row
from weft.telemetry import metrics
from weft.wire.documents.events import event_document


async def asked_watch(request: AnyRequest, *, of_page: bool = False) -> EventWatch:
    """Return a watch of the batch that a request names, else of all; it begins after the event
    of the Last-Event-ID header, else after `since`, else now. Raise as `watch_events`.
    """
    batch = request.query.text("batch")
    last = _position("Last-Event-ID", request.headers.get("last-event-id"))
    return await watch_events(
        request.services,
        request.caller,
        batch_id=None if batch is None else parse_batch_id(batch),
        after=last or _position("since", request.query.text("since")),
        of_page=of_page,
    )


def _position(name: str, text: str | None) -> Position | None:
    if text is None:
        return None
    match = EVENT_POSITION.fullmatch(text)
    if match is None:
        raise wrong_parameter(name, f"{text[:40]!r} is not the id of an event")
    return int(match[1]), int(match[2])


async def event_messages(
    events: AsyncGenerator[Sequence[Remembered]], *, after: Position, trace_id: str
) -> AsyncIterator[bytes]:
    """Yield the messages of a stream of events that begins after this position."""
    with metrics.HTTP_STREAMS.labels("events").track_inprogress():
        # The id lets a client resume even if it is cut off before the first event.
        yield b"id: %d-%d\n: connected\n\n" % after
        try:
            async with aclosing(events):
                async for event in events:
                    yield b"".join(one.message for one in event) or KEEP_ALIVE
        except EventsGone as error:
            yield message(problem_document(error, trace_id), kind="error")


def encode_event(row: Row) -> bytes:
    """Return the message of one event."""
    document = event_document(row)
    return message(document, kind=row["kind"], id_=document["id"])
