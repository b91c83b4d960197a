"""The answers about conditions of blocked jobs."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.core.ends.conditions import Kind
from weft.wire.answers.field_types import Count


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
