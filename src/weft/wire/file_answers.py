"""The answers about files of jobs."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct


class JobFile(Struct, kw_only=True):
    """A file that a job has left."""

    path: str
    attempt: int
    bytes: Annotated[int, Meta(ge=0)]
    sha256: str
    address: Annotated[str | None, Meta(description="where it is kept; null: weft keeps it")]
    kept_at: datetime
