"""The answers about files of jobs."""

from datetime import datetime
from typing import Annotated, Literal

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


class FoundLine(Struct, kw_only=True):
    """A line of output that has a text, or why the output of a job could not be searched."""

    job_id: int
    attempt: int
    stream: Literal["stdout", "stderr"] | None
    number: Annotated[int | None, Meta(description="of the line, from 1")]
    line: Annotated[str | None, Meta(description="its first 4,096 bytes")]
    problem: Annotated[str | None, Meta(description="why the output cannot be read")]
