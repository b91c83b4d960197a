"""Pages of the list of batches: in the order that a request names, each from its cursor on."""

from collections.abc import Sequence
from typing import Any, Final

from weft.api.http.paging import cursor_of, cursor_text, kind_of, page_until, wrong_cursor
from weft.api.http.parameters import Query
from weft.core.batch_order import BatchOrder, BatchPlace, BatchSort, parse_place
from weft.ports.store import Row

ORDER: Final = ("sort", "reverse")
"""The parameters of the order."""


class BatchPage:
    """Which page a request is for."""

    before: int | None = None
    """In the usual order, newest first: the number below which it begins; None: at the first."""
    after: BatchPlace | None = None
    """In another order: the place after which it begins."""

    def __init__(self, query: Query, *filters: str | None) -> None:
        """Read order and cursor; the cursor fits no list with other filters. Raise
        `InvalidParameter`.
        """
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
