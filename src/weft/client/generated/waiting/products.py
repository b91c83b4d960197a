"""Calls of `weft.api.use_cases.products`, for programs that wait.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.generated.calls import CallsT_co
from weft.client.http.listing import Document
from weft.client.loop_thread import Twin


class ProductsWaits(Twin[CallsT_co]):
    """Calls of `weft.api.use_cases.products`, for programs that wait."""

    def get_product(self, product_id: int) -> Document:
        """Return a product, with what is known of its job, which may be deleted. Raise
        `ProductNotFound`.

        Use case: `weft.api.use_cases.products.get_product`.

        Args:
            product_id: The number of a product.
        """
        return self._loop_thread.wait(self._async.get_product(product_id))

    def remove_product(self, product_id: int) -> None:
        """Forget a product. What it names is not touched. Raise `ProductNotFound`,
        `PermissionMissing`.

        Use case: `weft.api.use_cases.products.remove_product`.

        Args:
            product_id: The number of a product.
        """
        self._loop_thread.wait(self._async.remove_product(product_id))
