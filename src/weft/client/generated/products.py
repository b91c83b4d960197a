"""Calls of `weft.api.use_cases.products`.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.http.calls import DocumentCalls
from weft.client.http.listing import Document


class ProductsCalls(DocumentCalls):
    """Calls of `weft.api.use_cases.products`."""

    async def get_product(self, product_id: int) -> Document:
        """Return a product, with what is known of its job, which may be deleted. Raise
        `ProductNotFound`.

        Use case: `weft.api.use_cases.products.get_product`.

        Args:
            product_id: The number of a product.
        """
        return await self._get(f"/v1/products/{product_id}")

    async def remove_product(self, product_id: int) -> None:
        """Forget a product. What it names is not touched. Raise `ProductNotFound`,
        `PermissionMissing`.

        Use case: `weft.api.use_cases.products.remove_product`.

        Args:
            product_id: The number of a product.
        """
        await self._delete(f"/v1/products/{product_id}")
