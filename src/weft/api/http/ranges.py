"""The Range header."""

import re
from dataclasses import dataclass
from typing import Final

from weft.core.errors import RangeNotSatisfiable

_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


@dataclass(frozen=True)
class Span:
    """Bytes `start` to `stop` (excluded) of `size`."""

    start: int
    stop: int
    size: int

    @property
    def content_range(self) -> str:
        """Return the Content-Range header of a partial reply."""
        return f"bytes {self.start}-{self.stop - 1}/{self.size}"


def span_of(header: str | None, size: int) -> Span | None:
    """Parse the Range header; None: everything. Raise `RangeNotSatisfiable`.

    Several ranges and malformed ones are ignored.
    Source: RFC 9110, section 14.2.
    """
    match = _RANGE.fullmatch(header or "")
    if match is None or match[0] == "bytes=-":
        return None
    if not match[1]:
        start, stop = max(0, size - int(match[2])), size
    else:
        start, stop = int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)
        if match[2] and int(match[2]) < start:
            return None
    if start >= size or start >= stop:
        refused = RangeNotSatisfiable(
            "the range is outside the output",
            detail=f"The stream has {size} bytes now.",
            hint="Ask for a range that begins within it.",
        )
        refused.size = size
        raise refused
    return Span(start, stop, size)
