"""The part of a client for products: what jobs say that they have made."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document, Listing


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

    async def get_product(self, product_id: int) -> Document:
        """Return a product. Raise `ProductNotFound`."""
        return await self.api.get_product(product_id)

    async def remove_product(self, product_id: int) -> None:
        """Forget a product. Raise `ProductNotFound`, `PermissionMissing`."""
        await self.api.remove_product(product_id)
