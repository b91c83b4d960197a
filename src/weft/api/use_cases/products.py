"""Products: what jobs that have ended well say that they have made."""

from collections.abc import Sequence
from typing import Annotated

from weft.api.calls.call import Cursor, Word, call
from weft.api.calls.path_ids import ProductId
from weft.api.services import Services
from weft.api.use_cases import read
from weft.core.access.rights import Right
from weft.core.errors import ProductNotFound
from weft.core.query import Subject
from weft.ports.store import Caller, ProductQuery, Row
from weft.submission.services import Answer
from weft.wire.answers.products import Product, ProductRemoved


@call("GET /v1/products", Right.READ, page=Product, cursor=Cursor("product", "id"))
async def list_products(
    services: Services,
    caller: Caller,
    q: Annotated[str | None, Word("q")],
    *,
    before: int | None,
    limit: int,
) -> Sequence[Row]:
    """Return products, newest first. `q`: only products that match this query, such as `type = FSC
    and tile = 32TLR`. Raise `BadQuery`, `QueryTooSlow`.
    """
    query = ProductQuery(
        query=read.parse(q, Subject.PRODUCTS, services.settings),
        before=before,
        limit=limit,
        limits=read.limits_of(services.settings),
    )
    return await services.store.query_products(caller, query)


@call("GET /v1/products/{product}", Right.READ, Product)
async def get_product(services: Services, caller: Caller, product_id: ProductId) -> Answer:
    """Return a product and its job, which may be deleted. Raise `ProductNotFound`."""
    product = await services.store.get_product(caller, product_id)
    if product is None:
        raise _not_found(product_id)
    return {**product}


@call("DELETE /v1/products/{product}", Right.WRITE, ProductRemoved, silent=True)
async def remove_product(services: Services, caller: Caller, product_id: ProductId) -> Answer:
    """Forget a product, not what it names. Raise `ProductNotFound`, `PermissionMissing`."""
    if not await services.store.remove_product(caller, product_id):
        raise _not_found(product_id)
    return {"id": product_id}


def _not_found(product_id: int) -> ProductNotFound:
    return ProductNotFound(
        f"product {product_id} does not exist",
        detail="No product with this number is visible to you.",
    )
