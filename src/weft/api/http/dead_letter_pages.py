"""Where a list of jobs that failed for good goes on: after a batch, a cause and a job of it."""

import re
from collections.abc import Sequence
from typing import Final

from weft.api.http.paging import INT_MAX, cursor_text, wrong_cursor
from weft.api.http.parameters import Query
from weft.ports.store import Row

_KEY: Final = re.compile(r"([0-9]{1,18})\.([0-9a-f]{12})\.([0-9]{1,10})")


def after_of(query: Query, kind: str) -> tuple[int, int, int] | None:
    """Return after what the page begins; None: it is the first. Raise `InvalidParameter`."""
    text = cursor_text(query, kind)
    if text is None:
        return None
    key = _KEY.fullmatch(text)
    if key is None or int(key[3]) > INT_MAX:
        raise wrong_cursor()
    return int(key[1]), int(key[2], 16), int(key[3])


def last_of(rows: Sequence[Row], limit: int) -> str | None:
    """Return with what a page ends; None: it is the last one."""
    return "{batch_id}.{cause}.{job_id}".format_map(rows[-1]) if len(rows) == limit else None
