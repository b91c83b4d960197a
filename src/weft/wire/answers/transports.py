"""The documents about transports that the API replies with, for its description."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.answers.failures import Acknowledgement
from weft.wire.answers.field_types import Count


class TransportQueue(Struct, kw_only=True):
    """A queue that travels, and what is under way."""

    queue: str
    workers: Annotated[Count, Meta(description="that consume it")]
    slots: Annotated[Count, Meta(description="jobs that these run at a time")]
    offered: Annotated[Count, Meta(description="jobs that nobody has taken")]
    unconfirmed: Annotated[Count, Meta(description="of these: the message is not confirmed")]
    sent_again: Annotated[Count, Meta(description="of these: sent more than once")]
    in_flight: Annotated[Count, Meta(description="jobs that were taken and have not ended")]
    oldest_at: Annotated[datetime | None, Meta(description="of the offers that nobody has taken")]
    messages: Annotated[
        Count | None,
        Meta(description="that the transport had to deliver; Kafka: that were not done (lag)"),
    ]
    consumers: Annotated[Count | None, Meta(description="that the transport counted")]


class Transport(Struct, kw_only=True):
    """A connection that the operator has named, as the driver saw it."""

    transport: str
    kind: str
    looked_at: Annotated[datetime | None, Meta(description="null: the driver has not looked yet")]
    away_since: Annotated[datetime | None, Meta(description="null: it answered")]
    error: str | None
    dead_messages: Annotated[Count, Meta(description="that nobody wanted, and acknowledged")]
    queues: list[TransportQueue]


class DeadMessage(Struct, kw_only=True):
    """A message of a transport that nobody wants."""

    dead_id: Annotated[int, Meta(ge=1)]
    transport: str
    source: Annotated[
        str, Meta(description="the queue or topic in which it was, or should have come")
    ]
    reason: Annotated[
        Literal["refused", "unroutable", "rejected", "expired", "full", "undelivered"],
        Meta(description="refused: by weft; the others are the broker's words"),
    ]
    error: Annotated[str | None, Meta(description="with which weft has refused it")]
    kept_at: datetime
    n_bytes: Annotated[Count, Meta(description="that it had; 65,536 of them are kept")]
    can_resend: Annotated[bool, Meta(description="it is whole, and a queue of weft was meant")]
    resend_at: Annotated[
        datetime | None, Meta(description="when it was asked for; once it is sent it is gone")
    ]
    acknowledged: Annotated[
        Acknowledgement | None, Meta(description="null: it is still to be seen to")
    ]


class WholeDeadMessage(DeadMessage, kw_only=True):
    """A message of a transport that nobody wants, with its body."""

    body: Annotated[str, Meta(description="in base64, as far as it was kept")]


class DeadMessageRemoved(Struct, kw_only=True):
    """A dead message that is forgotten."""

    dead_id: Annotated[int, Meta(ge=1)]
