"""Times such as `30s`, `5m`, `60d`, as files of production lines write them."""

import re
from datetime import timedelta
from typing import Final

_WRITTEN: Final = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d|w)")
_SECONDS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def duration_of(written: object) -> timedelta | None:
    """Return a time; None: it is not written as one, or longer than any."""
    match = _WRITTEN.fullmatch(written) if isinstance(written, str) else None
    if match is None:
        return None
    try:
        return timedelta(seconds=float(match[1]) * _SECONDS[match[2]])
    except OverflowError:
        return None
