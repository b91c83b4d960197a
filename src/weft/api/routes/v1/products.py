"""`/v1/products`: what jobs that have ended well say that they have made."""

from typing import Final

from litestar import Response, delete, get

from weft.api.http.paging import PAGE, cursor_of, kind_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import product_id_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import products
from weft.wire.answers.products import Product, ProductRemoved
from weft.wire.documents.batches import Empty

LIST_QUERY: Final = ("q", *PAGE)


@get("/v1/products", opt={"page": Product, "query": LIST_QUERY})
async def list_products(request: AnyRequest) -> Response[bytes]:
    """List products, newest first. `q`: only products that match this query, such as
    `type = FSC and tile = 32TLR`.
    """
    query = Query(request, LIST_QUERY)
    services, q = services_of(request), query.text("q")
    limit, kind = limit_of(query, services.settings), kind_of("product", q)
    rows = await products.list_products(
        services, caller_of(request), q, before=cursor_of(query, kind), limit=limit
    )
    return reply(page(rows, limit, kind, "id"))


@get("/v1/products/{product:str}", opt={"answer": Product})
async def get_product(request: AnyRequest) -> Response[bytes]:
    """Get a product, with what is known of its job, which may be deleted."""
    Query(request, ())
    product_id = product_id_of(request)
    return reply(await products.get_product(services_of(request), caller_of(request), product_id))


@delete(
    "/v1/products/{product:str}", status_code=200, opt={"answer": ProductRemoved, "body": Empty}
)
async def remove_product(request: AnyRequest) -> Response[bytes]:
    """Forget a product. What it names is not touched."""
    Query(request, ())
    product_id = product_id_of(request)
    await read_document(request, Empty)
    return reply(
        await products.remove_product(services_of(request), caller_of(request), product_id)
    )


ROUTES = (list_products, get_product, remove_product)
"""The routes of products."""
