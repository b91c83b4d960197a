"""The documents about transports that the API replies with, for its description."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.answers import Count


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
    queues: list[TransportQueue]
