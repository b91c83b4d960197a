"""Errors about products."""

from weft.core.errors.kinds import (
    NotFound,
)


class ProductNotFound(NotFound, code="API.PRODUCT_NOT_FOUND"):
    """The product does not exist."""

    advice = "List those that you see with `weft products`."
