"""`/v1/products`: what jobs that have ended well say that they have made."""

from typing import Final

from litestar import Response, get

from weft.api.http.paging import PAGE, cursor_of, kind_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.use_cases import products
from weft.wire.answers.products import Product

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


ROUTES = (list_products,)
"""The routes of products."""
