"""What the api answers about why jobs wait, and about callbacks of their batches."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.wire.answers.batches import Count, GroupStateWord, JobStateWord


class WaitCause(Struct, kw_only=True):
    """Something that would have to change for a job to run, or what became of it."""

    kind: Annotated[str, Meta(examples=["hold", "parent", "busy", "too_large", "not_before"])]
    text: Annotated[str, Meta(description="words that follow the name of the job or group")]
    command: Annotated[
        str | None, Meta(description="changes it, or shows more; null: there is nothing to do")
    ]
    job_id: Annotated[
        int | None,
        Meta(description="the job of a group of which this is said; null: what was asked for"),
    ]


_ORDER = Meta(description="what is first to change first; empty: it will start in a moment")


class _Came(Struct, kw_only=True):
    """Whose it is elsewhere, and what it runs."""

    door: Annotated[
        str | UnsetType, Meta(description="through which it came; missing if none")
    ] = UNSET
    foreign_id: Annotated[
        str | UnsetType, Meta(description="by which the door's clients know it; missing if none")
    ] = UNSET
    app: Annotated[
        str | UnsetType, Meta(description="the application that it runs; missing if none")
    ] = UNSET


class JobWhy(_Came, kw_only=True):
    """Why a job waits, what it does, or what became of it."""

    batch_id: int
    job_id: int
    state: JobStateWord
    causes: Annotated[list[WaitCause], _ORDER]


class GroupWhy(_Came, kw_only=True):
    """Why jobs of a batch or a group wait; a few of them stand for the others."""

    batch_id: int
    name: Annotated[str, Meta(description="as commands name it")]
    state: GroupStateWord
    causes: Annotated[list[WaitCause], _ORDER]


class Delivery(Struct, kw_only=True):
    """The delivery of the callback of one completion, or of a notice of one event of a job that
    came through a door.
    """

    delivery_id: int
    delivery: Annotated[str, Meta(description="the Weft-Delivery header")]
    batch_id: int
    group_id: Annotated[int | None, Meta(description="of a callback")]
    completion: Annotated[int | None, Meta(description="of a callback")]
    event: Annotated[str | None, Meta(description="of a notice")]
    url: str
    state: Literal["pending", "delivered", "failed"]
    n_attempts: Count
    last_status: int | None
    last_error: str | None
    created_at: datetime
    tried_at: datetime | None
    next_at: datetime | None
    delivered_at: datetime | None


class CallbackSecret(Struct, kw_only=True):
    """The secret that signs the callbacks of a tenant."""

    secret: str
