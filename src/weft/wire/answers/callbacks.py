"""The answers about callbacks of batches."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.answers.field_types import Count


class Sent(Struct, kw_only=True):
    """What is sent until it has arrived."""

    delivery_id: int
    delivery: Annotated[str, Meta(description="the Weft-Delivery header, the same in each try")]
    batch_id: int
    url: str
    n_attempts: Count
    last_status: int | None
    last_error: str | None
    created_at: datetime
    tried_at: datetime | None
    next_at: datetime | None
    delivered_at: datetime | None


class Delivery(Sent, kw_only=True):
    """The delivery of the callback of one completion, or of a notice of one event of a job that
    came through a door.
    """

    group_id: Annotated[int | None, Meta(description="of a callback")]
    completion: Annotated[int | None, Meta(description="of a callback")]
    event: Annotated[str | None, Meta(description="of a notice")]
    state: Literal["pending", "delivered", "given_up"]


class CallbackSecret(Struct, kw_only=True):
    """The secret that signs the callbacks of a tenant."""

    secret: str
