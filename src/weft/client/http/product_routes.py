"""The client's calls about products."""

from weft.client.http.calls import PAGE_ROWS, Requests
from weft.client.http.listing import Listing


class ProductRoutes(Requests):
    """`/v1/products`."""

    def list_products(self, q: str | None = None, *, page_rows: int = PAGE_ROWS) -> Listing:
        """Yield products, newest first: all, or those that a query finds. Raise `BadQuery`."""
        return self._list("/v1/products", {"q": q, "limit": page_rows})
