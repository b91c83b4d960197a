"""Pages of lists: `limit` and an opaque `cursor`."""

import base64
import binascii
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from weft.api.http.parameters import Query, wrong_parameter
from weft.core.batch_order import NUMBER_CHARS_MAX
from weft.core.errors import BadId, InvalidParameter
from weft.ports.store import Row
from weft.settings import Settings

Position = TypeVar("Position")
LIMIT_MAX: Final = 1000
CURSOR_CHARS_MAX: Final = 4096
"""One in the order of names holds a name."""
INT_MAX: Final = 2**31 - 1
"""The numbers of users, projects, jobs, groups and the like."""
PAGE: Final = ("limit", "cursor")


def limit_of(query: Query, settings: Settings) -> int:
    """Return how many rows the client wants."""
    return query.integer("limit", default=settings.page_rows, least=1, most=LIMIT_MAX) or 1


def cursor_of(query: Query, kind: str, *, most: int | None = None) -> int | None:
    """Return the number after which the page begins, which is at most this; None: it is the first
    page.

    Raise `InvalidParameter` unless a page of this kind returned the cursor.
    """
    number = cursor_text(query, kind)
    if number is None:
        return None
    if not number.isdecimal() or len(number) > NUMBER_CHARS_MAX:
        raise wrong_cursor()
    if most is not None and int(number) > most:
        raise wrong_cursor()
    return int(number)


def cursor_text(query: Query, kind: str) -> str | None:
    """Do what `cursor_of` does for a list that is not in the order of numbers."""
    text = query.text("cursor")
    if text is None:
        return None
    try:
        found, _, last = (
            base64.urlsafe_b64decode(text[:CURSOR_CHARS_MAX].encode()).decode().partition(":")
        )
    except (ValueError, binascii.Error) as error:
        raise wrong_cursor() from error
    if found != kind:
        raise wrong_cursor()
    return last


def cursor_as(query: Query, kind: str, parse: Callable[[str], Position]) -> Position | None:
    """Do what `cursor_of` does for a list in another order: `parse` raises `BadId`."""
    text = cursor_text(query, kind)
    try:
        return None if text is None else parse(text)
    except BadId as error:
        raise wrong_cursor() from error


def wrong_cursor() -> InvalidParameter:
    """Return the error for a cursor that no page returned."""
    return wrong_parameter("cursor", "it is not a cursor of this list and query")


def kind_of(kind: str, *filters: str | None) -> str:
    """Return the kind of the cursors of a list with these filters; they fit no other list."""
    if all(one is None for one in filters):
        return kind
    text = "\n".join(repr(one) for one in filters)
    return kind + hashlib.sha256(text.encode()).hexdigest()[:12]


def page(
    rows: Sequence[Row], limit: int, kind: str, key: str, *, warnings: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the document of a page; on the last page `cursor` is null."""
    document = page_until(rows, kind, rows[-1][key] if len(rows) == limit else None)
    return {**document, "warnings": warnings} if warnings else document


def page_until(rows: Sequence[Row], kind: str, last: object) -> dict[str, Any]:
    """Return the document of a page that ends with `last`; None: it is the last page."""
    cursor = None
    if last is not None:
        cursor = base64.urlsafe_b64encode(f"{kind}:{last}".encode()).decode()
    return {"items": rows, "cursor": cursor}
