"""`/ui/events`: tells an open page that what it shows has changed, so that it reads itself again.
That of a batch shows the newest events besides.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, Final

from weft.api.feeds import Position, Remembered
from weft.api.http.event_stream import asked_watch
from weft.api.http.pages import NO_MOMENT, get_page
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Stream
from weft.api.http.sse import KEEP_ALIVE, message, stream_reply
from weft.core.access.rights import Right
from weft.core.errors import EventsGone
from weft.core.states import JobState
from weft.telemetry import metrics

SHOWN: Final = 50
"""So many events a message tells of, the newest."""
NAMED: Final = 5
"""So many jobs and groups an event names there."""
_CHANGES: Final = (
    "held",
    "released",
    "paused",
    "resumed",
    "edited",
    "hidden",
    "unhidden",
    "prioritized",
    "reopened",
)
_KINDS: Final = frozenset(
    (
        *(f"jobs.{state.word}" for state in JobState),
        "jobs.held",
        "jobs.released",
        "jobs.edited",
        "jobs.prioritized",
        "jobs.extended",
        "jobs.acknowledged",
        "jobs.messaged",
        "jobs.signalled",
        "jobs.progress",
        *(f"{what}.{change}" for what in ("batch", "group") for change in _CHANGES),
        "batch.complete",
        "batch.cancelled",
        "batch.deleted",
        "group.complete",
        "group.cancelled",
        "update.committed",
        "operation.progress",
        "operation.success",
        "operation.failed",
        "operation.cancelled",
        "condition.opened",
        "condition.closed",
    )
)
"""Events after which a page is read again."""


@get_page("/ui/events", Right.READ, opt=NO_MOMENT, query=("batch", "since"))
async def stream_changes(request: AnyRequest) -> Stream:
    """Send a message after events of one batch or of all; rarely, while many pages are open."""
    watch = await asked_watch(request, of_page=True)
    tells = watch.batch_id is not None
    return stream_reply(_messages(watch.events(), after=watch.position, tells=tells))


async def _messages(
    events: AsyncGenerator[Sequence[Remembered]], *, after: Position, tells: bool
) -> AsyncIterator[bytes]:
    """Yield a message for each bunch of events; `tells`: with the events, in short."""
    with metrics.HTTP_STREAMS.labels("pages").track_inprogress():
        yield b"id: %d-%d\n: connected\n\n" % after
        try:
            async with aclosing(events):
                async for event in events:
                    changes = [one for one in event if one.kind in _KINDS]
                    if not changes:
                        yield KEEP_ALIVE
                    else:
                        told = [_brief(change) for change in changes[-SHOWN:]] if tells else []
                        yield message(told, id_="{}-{}".format(*changes[-1].position))
        except EventsGone:
            return  # what the browser asks for next is refused, so that it reads the page again


def _brief(event: Remembered) -> dict[str, Any]:
    return {
        "at": event.at,
        "kind": event.kind,
        "jobs": event.jobs[:NAMED],
        "n_jobs": len(event.jobs),
        "groups": event.groups[:NAMED],
        "n_groups": len(event.groups),
    }
