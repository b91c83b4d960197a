"""Pages of lists: `limit` and an opaque `cursor`."""

import base64
import binascii
import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from weft.api.calls.path_ids import parse_group
from weft.api.http.parameters import Query, wrong_parameter
from weft.api.use_cases.read import JobList
from weft.core.batch_order import NUMBER_CHARS_MAX, BatchOrder, BatchPlace, BatchSort, parse_place
from weft.core.errors import BadId, InvalidParameter
from weft.core.states import JobState
from weft.ports.store import Row, ShareKey
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


_STATES: Final = {state.word: state for state in JobState}


def job_list_of(query: Query, settings: Settings) -> JobList:
    """Return which jobs `q`, `group`, `state` and `limit` name, from the first one on."""
    group = query.text("group")
    return JobList(
        limit=limit_of(query, settings),
        query=query.text("q"),
        group=None if group is None else parse_group(group, settings),
        states=[_state(word) for word in query.many("state")],
    )


def _state(word: str) -> JobState:
    if word not in _STATES:
        raise wrong_parameter("state", f"{word[:40]!r} is not one of {', '.join(_STATES)}")
    return _STATES[word]


ORDER: Final = ("sort", "reverse")
"""The parameters of the order."""


class BatchPage:
    """Which page a request is for."""

    before: int | None = None
    """In the usual order, newest first: the number below which it begins; None: at the first."""
    after: BatchPlace | None = None
    """In another order: the place after which it begins."""

    def __init__(self, query: Query, *filters: str | None) -> None:
        """Read order and cursor, which fits no list of other filters. Raise `InvalidParameter`."""
        self.order = _order_of(query)
        if self.order is None:
            self._kind = kind_of("b", *filters)
            self.before = cursor_of(query, self._kind)
            return
        self._kind = kind_of("bo", self.order.sort, str(self.order.reverse), *filters)
        text = cursor_text(query, self._kind)
        if text is not None:
            try:
                self.after = parse_place(text, self.order.sort)
            except ValueError as error:
                raise wrong_cursor() from error

    @property
    def is_first(self) -> bool:
        """Whether it has no cursor."""
        return self.before is None and self.after is None

    def document(self, rows: Sequence[Row], last: BatchPlace | None) -> dict[str, Any]:
        """Return the document of the page; `last`: where the next one begins, if there is one."""
        text = last and (last.text() if self.order else str(last.batch_id))
        return page_until(rows, self._kind, text)


def _order_of(query: Query) -> BatchOrder | None:
    """Return the order that a request names; None: the usual one."""
    if query.text("sort") is None and query.text("reverse") is None:
        return None
    return BatchOrder(BatchSort(query.choice("sort", tuple(BatchSort))), query.flag("reverse"))


KIND: Final = "u"


def after_of(query: Query) -> ShareKey | None:
    """Return the user after whom the page begins, if not the first. Raise `InvalidParameter`."""
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
