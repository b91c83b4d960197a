"""The answers about sinks of production lines."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from weft.wire.answers.callbacks import Sent
from weft.wire.answers.sources import ItemCount

GIVEN_UP_MAX: Final = 10_000
"""Messages that a call settles."""


class Message(Sent, kw_only=True):
    """What a sink is told of a job that ended well."""

    sink: str
    job_id: int
    file: Annotated[str | None, Meta(description="of its job, if each of them is a message")]
    order: Annotated[str | None, Meta(description="those that have the same one are sent in turn")]
    state: Annotated[
        Literal["pending", "delivered", "given_up", "held", "dropped"],
        Meta(description="`held`: a check stops it, until somebody decides"),
    ]


class GivenUpSettled(Struct, kw_only=True):
    """Messages of a sink that were given up."""

    sink: str
    n_messages: Annotated[
        int, Meta(ge=0, le=GIVEN_UP_MAX, description="10000: a repeat settles further ones")
    ]


class UnsentMessages(Struct, kw_only=True):
    """Messages for a sink that have not arrived."""

    sink: str
    n_open: Annotated[ItemCount, Meta(description="messages that are still to be sent")]
    n_given_up: ItemCount
    n_held: Annotated[ItemCount, Meta(description="that a check stopped, until somebody decides")]
    last_error: Annotated[str | None, Meta(description="of what has not arrived, the last one")]
