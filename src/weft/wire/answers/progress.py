"""What jobs say about their progress."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct, UnsetType


class Progress(Struct, kw_only=True):
    """How far an attempt says that it is."""

    percent: Annotated[float, Meta(ge=0, le=100)]
    text: str
    at: Annotated[datetime, Meta(description="since when it says this")]
    attempt: Annotated[int, Meta(ge=1, description="the one that said it")]


class JobProgress(Progress, kw_only=True):
    """How far a running job says that it is."""

    job_id: Annotated[int, Meta(ge=1)]


ProgressOfJob = Annotated[
    Progress | UnsetType, Meta(description="as it says itself; missing if it says nothing")
]
ProgressOfJobs = Annotated[
    list[JobProgress] | UnsetType,
    Meta(description="what running jobs say, the newest 10; missing in lists, and if none"),
]
