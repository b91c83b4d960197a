"""Pages of lists: `limit` and an opaque `cursor`."""

import base64
import binascii
import hashlib
from collections.abc import Sequence
from typing import Any, Final

from weft.api.http.requests import Query, wrong_parameter
from weft.core.errors import InvalidParameter
from weft.ports.store import Row
from weft.settings import Settings

LIMIT_MAX: Final = 1000
PAGE: Final = ("limit", "cursor")


def limit_of(query: Query, settings: Settings) -> int:
    """Return how many rows are asked for."""
    return query.integer("limit", default=settings.page_rows, least=1, most=LIMIT_MAX) or 1


def cursor_of(query: Query, kind: str) -> int | None:
    """Return where to go on. Raise `InvalidParameter` for what no page of this kind gave out."""
    number = cursor_text(query, kind)
    if number is None:
        return None
    if not number.isdecimal():
        raise wrong_cursor()
    return int(number)


def cursor_text(query: Query, kind: str) -> str | None:
    """Return where to go on in a list that is not in the order of numbers; as `cursor_of`."""
    text = query.text("cursor")
    if text is None:
        return None
    try:
        found, _, place = (
            base64.urlsafe_b64decode(text[:64].encode()).decode("ascii").partition(":")
        )
    except (ValueError, binascii.Error) as error:
        raise wrong_cursor() from error
    if found != kind:
        raise wrong_cursor()
    return place


def wrong_cursor() -> InvalidParameter:
    """Return the error for a cursor that no page gave out."""
    return wrong_parameter("cursor", "it is not a cursor of this list and query")


def kind_of(kind: str, *asked: str | None) -> str:
    """Return the kind of the cursors of a list that was asked in this way; they fit no other."""
    if all(one is None for one in asked):
        return kind
    text = "\n".join(repr(one) for one in asked)
    return kind + hashlib.sha256(text.encode()).hexdigest()[:12]


def page(rows: Sequence[Row], limit: int, kind: str, key: str) -> dict[str, Any]:
    """Return the document of a page; `cursor` is null on the last one."""
    cursor = None
    if len(rows) == limit:
        cursor = base64.urlsafe_b64encode(f"{kind}:{rows[-1][key]}".encode()).decode()
    return {"items": rows, "cursor": cursor}
