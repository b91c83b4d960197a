"""`/v1/events`: what happens, as server-sent events that can be resumed."""

from litestar import get
from litestar.response import Stream

from weft.api.http.event_stream import event_messages
from weft.api.http.parameter_schemas import EVENT_POSITION
from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.requests import AnyRequest, caller_of, services_of, trace_id_of
from weft.api.http.sse import stream_reply
from weft.api.use_cases.watch import watch_events
from weft.core.ids import parse_batch_id
from weft.wire.answers import Event


@get(
    "/v1/events",
    opt={
        "stream": Event,
        "query": ("batch", "since"),
        "headers": ("Last-Event-ID",),
        "refuses": (410,),
    },
)
async def stream_events(request: AnyRequest) -> Stream:
    """Stream events of one batch or of all: after the event of the Last-Event-ID header, else
    after `since`, else from now on.
    """
    query = Query(request, ("batch", "since"))
    after = _position("Last-Event-ID", request.headers.get("last-event-id"))
    after = after or _position("since", query.text("since"))
    batch = query.text("batch")
    watch = await watch_events(
        services_of(request),
        caller_of(request),
        batch_id=None if batch is None else parse_batch_id(batch),
        after=after,
    )
    return stream_reply(
        event_messages(watch.events(), after=watch.position, trace_id=trace_id_of(request))
    )


def _position(name: str, text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = EVENT_POSITION.fullmatch(text)
    if match is None:
        raise wrong_parameter(name, f"{text[:40]!r} is not the id of an event")
    return int(match[1]), int(match[2])


ROUTES = (stream_events,)
