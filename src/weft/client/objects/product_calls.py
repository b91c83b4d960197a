"""The part of a client for products: what jobs say that they have made."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Listing


class ProductCalls:
    """Products stay when their jobs are deleted."""

    if TYPE_CHECKING:
        api: Api

    def list_products(self, q: str | None = None) -> Listing:
        """Yield products, newest first, each with its `product`, and `inputs` and `attributes` of
        its job: all, or those that a query such as `type = FSC and tile = 32TLR` finds. Raise
        `BadQuery`.
        """
        return self.api.list_products(q)
