"""The answers about lifecycles and the statuses of jobs."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.core.states import JobStateWord
from weft.wire.answers.jobs import JobNumber

Words = list[str]


class LifecycleExit(Struct, kw_only=True):
    """What a range of exit codes means."""

    codes: str
    status: str | UnsetType = UNSET
    subtype: str | UnsetType = UNSET
    tries: Annotated[int, Meta(description="ends of this kind, after which it is not tried again")]
    products: bool


class LifecyclePath(Struct, kw_only=True):
    """What a job goes through when it had a status for too long, or its attempt is lost."""

    path: Words
    subtype: str
    rounds: Annotated[int | UnsetType, Meta(description="after them it is an error")] = UNSET
    after: Annotated[str | UnsetType, Meta(description="how long nobody names it")] = UNSET


class Lifecycle(Struct, kw_only=True):
    """The statuses that jobs have, and which may follow which."""

    lifecycle: str
    setup: str
    statuses: Words
    first: Words
    next: dict[str, Words]
    core: Annotated[dict[str, Words], Meta(description="the states that statuses belong to")]
    phase: Annotated[dict[str, str], Meta(description="the status of a phase")]
    exit: Annotated[list[LifecycleExit], Meta(description="what exit codes mean")] = []
    limits: Annotated[
        dict[str, str] | UnsetType, Meta(description="how long a job may have a status")
    ] = UNSET
    on_limit: LifecyclePath | UnsetType = UNSET
    lost: LifecyclePath | UnsetType = UNSET
    saved_at: datetime
    saved_by: str


class JobStatus(JobNumber, kw_only=True):
    """The status of a job, and its state."""

    status: str
    state: JobStateWord
