"""`/v1/events`: what happens, as server-sent events that can be resumed."""

from litestar import get
from litestar.response import Stream

from weft.api.http.event_stream import event_messages, event_position
from weft.api.http.parameters import Query
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
    batch = query.text("batch")
    watch = await watch_events(
        services_of(request),
        caller_of(request),
        batch_id=None if batch is None else parse_batch_id(batch),
        after=event_position(request, query),
    )
    return stream_reply(
        event_messages(watch.events(), after=watch.position, trace_id=trace_id_of(request))
    )


ROUTES = (stream_events,)
