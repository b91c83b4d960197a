"""What the api answers about why jobs wait and when they end, about the conditions that blocked
jobs wait for, and about callbacks of their batches.
"""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.core.ends.conditions import Kind
from weft.core.states import JobStateWord
from weft.wire.answers.batches import Count, Door, ForeignId, GroupStateWord, Money


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

    door: Door = UNSET
    foreign_id: ForeignId = UNSET
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


class Forecast(Struct, kw_only=True):
    """When a job or a batch starts and ends, and what it costs: from and to, about nine times in
    ten if jobs go on as like ones did; each null if that is not known.
    """

    batch_id: int
    job_id: Annotated[int | None, Meta(description="null: the batch")]
    unknown: Annotated[str | None, Meta(description="why nothing is known; null: something is")]
    starts: Annotated[list[datetime] | None, Meta(description="null, too, if it has started")]
    ends: list[datetime] | None
    costs: Annotated[list[Money] | None, Meta(description="with what has run already")]
    n_like: Annotated[Count, Meta(description="of how many jobs that ended it is known")]
    causes: Annotated[list[WaitCause], Meta(description="as of why: what would change it")]


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


class Condition(Struct, kw_only=True):
    """What blocked jobs wait for together: one incident, tested once for all of them."""

    condition_id: int
    condition: Annotated[
        Kind | Literal["transport_unavailable"],
        Meta(
            description="transport_unavailable: no job is blocked on it; ready jobs wait for the "
            "transport, and nobody but the driver tests it"
        ),
    ]
    tester: str
    parameters: dict[str, str]
    since: datetime
    n_jobs: Annotated[
        Count,
        Meta(
            description="that wait for it now; of a user who does not see the tenant: of the jobs "
            "that they see, 10,000 at most; of a transport 1,000 at most of each batch"
        ),
    ]
    n_next: Annotated[int, Meta(description="how many go on after the next test that passes")]
    next_test_at: datetime
    tested_at: Annotated[datetime | None, Meta(description="null: not tested yet")]
    passed: Annotated[bool | None, Meta(description="the last test")]
    message: Annotated[str | None, Meta(description="what it said")]
    failed_by: Annotated[
        str | None, Meta(description="who has given it up: its jobs end; null: nobody")
    ]


class WaitingJob(Struct, kw_only=True):
    """A job that waits for a condition."""

    batch_id: int
    job_id: int
    blocked_at: datetime
    next_at: Annotated[datetime, Meta(description="when it is tried again, if a test passes")]


class ShownCondition(Condition, kw_only=True):
    """A condition with the jobs that are due first."""

    jobs: list[WaitingJob]
