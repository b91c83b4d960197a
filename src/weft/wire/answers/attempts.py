"""The answers about attempts of jobs."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct

from weft.core.pictures.timeline import Milliseconds
from weft.core.states import JobStateWord
from weft.wire.answers.billing import ResourceCost
from weft.wire.answers.field_types import MESSAGE, Count, Money, PhaseWord, ReasonWord
from weft.wire.answers.progress import ProgressOfJob


class StoredOutput(Struct, kw_only=True):
    """How much of an attempt's output is stored."""

    stdout_bytes: Count
    stderr_bytes: Count
    truncated: bool


class Attempt(Struct, kw_only=True):
    """One execution of a job."""

    attempt: int
    worker: str
    state: Annotated[JobStateWord, Meta(description="of the job after this attempt")]
    phase: PhaseWord | None
    reason: ReasonWord | None
    exit_code: int | None
    signal: int | None
    message: Annotated[str | None, MESSAGE]
    claimed_at: datetime
    started_at: Annotated[datetime | None, Meta(description="null: it did not run")]
    ended_at: Annotated[datetime | None, Meta(description="null: it is not over")]
    cpu_ms: Milliseconds
    memory_peak_bytes: Count
    cost: Money
    cost_by_resource: list[ResourceCost]
    log: StoredOutput
    progress: ProgressOfJob = UNSET
