"""`/v1/events`: what happens, as server-sent events that can be resumed."""

from weft.api.http.event_stream import asked_watch, event_messages
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Stream, get
from weft.api.http.sse import stream_reply
from weft.core.access.rights import Right
from weft.wire.answers.events import Event


@get(
    "/v1/events",
    Right.READ,
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
    watch = await asked_watch(request)
    return stream_reply(
        event_messages(watch.events(), after=watch.position, trace_id=request.trace_id)
    )
