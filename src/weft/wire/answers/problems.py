"""The answers that say what went wrong."""

from typing import Annotated

from msgspec import Meta, Struct


class ProblemField(Struct, kw_only=True):
    """One offending field."""

    pointer: Annotated[str, Meta(description="a JSON pointer (RFC 6901)")]
    message: str


class Problem(Struct, kw_only=True):
    """An error (RFC 9457): what happened, why, and what to do. docs/errors.md lists the codes."""

    type: str
    title: Annotated[str, Meta(description="what happened")]
    status: int
    detail: Annotated[str, Meta(description="why")]
    hint: Annotated[str, Meta(description="what to do")]
    code: str
    trace_id: str
    errors: list[ProblemField]
