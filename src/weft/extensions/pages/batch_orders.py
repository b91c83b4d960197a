"""Links of the heads of a table of batches, which sort it."""

from collections.abc import Mapping
from dataclasses import dataclass

from weft.api.http.pages import link
from weft.core.batch_order import BatchOrder, BatchSort

USUAL = BatchOrder(BatchSort.NUMBER)


@dataclass(frozen=True)
class SortLink:
    """A head: where it leads, and how the table is sorted by it now, as `aria-sort` says it."""

    href: str
    direction: str | None


def sort_links(q: str | None, order: BatchOrder | None) -> Mapping[str, SortLink]:
    """Return a link for each column that can be sorted by; that of the present one turns it."""
    now = order or USUAL
    return {
        sort.value: SortLink(_href(q, sort, turned=sort is now.sort and not now.reverse), way)
        for sort in BatchSort
        for way in [_direction(now) if sort is now.sort else None]
    }


def _href(q: str | None, sort: BatchSort, *, turned: bool) -> str:
    is_usual = sort is USUAL.sort and not turned
    parameters = {"q": q, "sort": None if is_usual else sort.value}
    return link("/ui/batches", {**parameters, "reverse": "true" if turned else None})


def _direction(order: BatchOrder) -> str:
    return "descending" if order.is_descending else "ascending"
