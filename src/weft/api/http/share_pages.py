"""Cursors of the users with work in a pool: how much a user runs, and who it is."""

import math
from typing import Final

from weft.api.http.paging import INT_MAX, cursor_text, wrong_cursor
from weft.api.http.parameters import Query
from weft.ports.store import ShareKey

KIND: Final = "u"


def after_of(query: Query) -> ShareKey | None:
    """Return the user after whom the page begins; None: it is the first page. Raise
    `InvalidParameter`.
    """
    text = cursor_text(query, KIND)
    if text is None:
        return None
    load, _, user = text.partition("/")
    try:
        key = ShareKey(float(load) if load else None, int(user))
    except ValueError as error:
        raise wrong_cursor() from error
    if not 0 < key.user_id <= INT_MAX or math.isnan(key.load or 0):
        raise wrong_cursor()
    return key


def last_of(key: ShareKey | None) -> str | None:
    """Return where the page ends; None: it is the last one."""
    return None if key is None else f"{'' if key.load is None else key.load!r}/{key.user_id}"
