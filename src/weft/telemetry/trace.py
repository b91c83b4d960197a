"""Trace ids: one name for all that follows from one request, down to the job's own processes.

The form is that of W3C Trace Context, level 1: 32 hexadecimal digits, carried in `traceparent`.
"""

import hashlib
import re
import secrets
from contextvars import Token
from typing import Any, Self

import structlog

_TRACE_ID = re.compile(r"[0-9a-f]{32}")
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")


def new_trace_id() -> str:
    """Return 32 random hexadecimal digits."""
    return secrets.token_hex(16)


def parse_trace_id(text: str) -> str | None:
    """Return the trace id that `X-Trace-Id` names; `None` if it is not one."""
    lowered = text.strip().lower()
    return lowered if _TRACE_ID.fullmatch(lowered) and int(lowered, 16) else None


def parse_traceparent(text: str) -> str | None:
    """Return the trace id of a `traceparent` header; `None` if it is not a valid one.

    A version above 00 may carry more at its end, which is ignored; version ff is invalid.
    Source: W3C Trace Context level 1, section 3.2.
    """
    match = _TRACEPARENT.fullmatch(text.strip())
    if match is None or match[1] == "ff" or (match[1] == "00" and match[4]):
        return None
    return match[2] if int(match[2], 16) and int(match[3], 16) else None


def span_of(trace_id: str, name: str) -> str:
    """Return the span of what weft names, such as `b1.j7.a1`: each process finds the same one."""
    return hashlib.blake2b(f"{trace_id} {name}".encode(), digest_size=8).hexdigest()


def format_traceparent(trace_id: str, name: str | None = None) -> str:
    """Write the header for a call or a process that belongs to this trace: as the span of a name,
    or as a new one.
    """
    new = secrets.token_hex(8)
    return f"00-{trace_id}-{span_of(trace_id, name or new)}-01"


class bind:  # noqa: N801 (it is used as a verb)
    """Put facts on every log line of this context.

    From now on, or until the end of the block in `with bind(job="b1.j7"):`.
    """

    def __init__(self, **facts: Any) -> None:  # noqa: ANN401 (facts have several types)
        self._tokens: dict[str, Token[Any]] = dict(structlog.contextvars.bind_contextvars(**facts))

    def __enter__(self) -> Self:
        """Do nothing: the facts are bound already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Put back what was bound before."""
        structlog.contextvars.reset_contextvars(**self._tokens)
