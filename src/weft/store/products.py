"""The products of jobs, in the api's store."""

from collections.abc import Sequence

import asyncpg

from weft.ports.store import Caller, ProductQuery, Row
from weft.ports.store.queries import NEWEST
from weft.store.database import call_on, fetch_on
from weft.store.declared import calls, truth, value
from weft.store.queries import Queries, begin_query
from weft.store.query_sql import select_products


class Products(Queries):
    """What jobs that have ended well say that they have made. A row has `id`, `product` and what
    is known of its job.
    """

    async def query_products(self, caller: Caller, query: ProductQuery) -> Sequence[Row]:
        """Return documents of products, newest first. Raise `QueryTooSlow`."""

        async def work(connection: asyncpg.Connection) -> Sequence[Row]:
            await begin_query(connection, caller, round(query.limits.timeout_s * 1000))
            before = NEWEST if query.before is None else query.before
            statement = select_products(query.query, before=before, limit=query.limit)
            found = await fetch_on(connection, "query_products", statement.text, statement.values)
            ids = [row[0] for row in found]
            rows = await call_on(connection, "get_products", caller=caller, product_ids=ids)
            return [row[0] for row in rows]

        return await self._within(caller, query.limits, work)

    @calls(value, "get_products", product_ids=lambda product_id: [product_id])
    async def get_product(self, caller: Caller, product_id: int) -> Row | None:
        """Return the document of a product; None: the caller sees no such product."""

    @calls(truth)
    async def remove_product(self, caller: Caller, product_id: int) -> bool:
        """Forget a product; return whether the caller saw it. Raise `NotPermitted`."""
