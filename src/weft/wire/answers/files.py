"""The answers about files of jobs."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType


class JobFile(Struct, kw_only=True):
    """A file that a job has left, or has at the moment."""

    path: str
    attempt: int
    bytes: Annotated[int, Meta(ge=0)]
    sha256: Annotated[str | None, Meta(description="null: the job runs and may change it")]
    address: Annotated[str | None, Meta(description="where it is kept; null: weft keeps it")]
    kept_at: Annotated[datetime | None, Meta(description="null: the job runs")]
    changed_at: datetime | UnsetType = UNSET
    """Of a file of a job that runs."""
