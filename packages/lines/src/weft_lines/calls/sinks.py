"""Messages of the sinks of production lines, and a further try."""

from collections.abc import Sequence
from typing import Final

from weft.api.calls.call import Cursor, call
from weft.api.calls.path_ids import MessageId, SinkName
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.wire.answers.sinks import GivenUpSettled, Message
from weft.wire.documents.sinks import GivenUpDecision, MessageDecision

_MESSAGES: Final = "/v1/sinks/{sink}/deliveries"


@call(
    f"GET {_MESSAGES}",
    Right.OPERATE,
    page=Message,
    cursor=Cursor("m", "delivery_id"),
    public=False,
)
async def list_messages(
    services: Services, caller: Caller, sink: SinkName, *, after: int, limit: int
) -> Sequence[Row]:
    """List the messages of a sink, the oldest first, each with the state of its delivery."""
    return await services.store.list_messages(caller, sink, after=after, limit=limit)


@call(
    f"POST {_MESSAGES}/{{message}}/redeliver",
    Right.OPERATE,
    Message,
    public=False,
    marks={"refuses": (409,)},
)
async def redeliver_message(
    services: Services, caller: Caller, sink: SinkName, delivery_id: MessageId
) -> Row:
    """Try to send a message again now, also one that was given up. A repeat does nothing while
    that is under way.
    """
    return await services.store.redeliver_message(caller, sink, delivery_id)


@call(
    f"POST {_MESSAGES}/{{message}}/decide",
    Right.OPERATE,
    Message,
    public=False,
    marks={"refuses": (409,)},
)
async def decide_message(
    services: Services,
    caller: Caller,
    sink: SinkName,
    delivery_id: MessageId,
    document: MessageDecision,
) -> Row:
    """Send a message that a check has stopped, or drop it; or drop one that was given up."""
    return await services.store.decide_message(
        caller, sink, delivery_id, dropped=document.decision == "drop"
    )


@call("POST /v1/sinks/{sink}/given-up", Right.OPERATE, GivenUpSettled, public=False)
async def settle_given_up(
    services: Services, caller: Caller, sink: SinkName, document: GivenUpDecision
) -> Answer:
    """Send given-up messages again, or drop them: 10,000 at most; also of a removed sink."""
    decision = None if document.dry_run else document.decision
    n_messages = await services.store.settle_given_up(caller, sink, decision)
    return {"sink": sink, "n_messages": n_messages}
