"""The answers about the output of jobs."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class FoundLine(Struct, kw_only=True):
    """A line of output that has a text, or why the output of a job could not be searched."""

    job_id: int
    attempt: int
    stream: Literal["stdout", "stderr"] | None
    number: Annotated[int | None, Meta(description="of the line, from 1")]
    line: Annotated[str | None, Meta(description="its first 4,096 bytes")]
    problem: Annotated[str | None, Meta(description="why the output cannot be read")]
