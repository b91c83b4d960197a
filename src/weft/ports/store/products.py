"""The calls of the api about products."""

from collections.abc import Sequence
from typing import Protocol

from weft.ports.store.callers import Caller, Row
from weft.ports.store.queries import ProductQuery


class ProductStore(Protocol):
    """What jobs that have ended well say that they have made. A row has `id`, `product` and what
    is known of its job.
    """

    async def query_products(self, caller: Caller, wanted: ProductQuery) -> Sequence[Row]:
        """Return documents of products, newest first. Raise `QueryTooSlow`."""

    async def get_product(self, caller: Caller, product_id: int) -> Row | None:
        """Return the document of a product; None: the caller sees no such product."""

    async def remove_product(self, caller: Caller, product_id: int) -> bool:
        """Forget a product; return whether the caller saw it. Raise `NotPermitted`."""
