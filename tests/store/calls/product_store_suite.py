"""What every adapter of the port `ProductStore` must do: a part of the api's suite."""

from collections.abc import Sequence
from typing import Any

from store.calls.store_site import StoreTests
from weft.core.attempt_key import AttemptKey
from weft.core.query import EVERYTHING, Node, Subject, parse_query
from weft.core.states import Reason
from weft.ports.store import Claimed, ProductQuery, QueryLimits

LIMITS = QueryLimits(timeout_s=10.0, scan_jobs_max=10**6)


class ProductStoreSuite(StoreTests):
    """Tests of the port `ProductStore`."""

    async def name_products(self, one: Claimed, *products: dict[str, Any]) -> None:
        """Let an attempt name products."""
        store, worker = await self.site.worker()
        key = AttemptKey(one.batch_id, one.job_id, one.attempt)
        inputs = [{"from": "file:///data/a"}]
        for _ in range(2):
            assert await store.record_products(worker, key, products, inputs=inputs)

    async def found_products(
        self, query: Node | str = EVERYTHING, *, before: int | None = None, limit: int = 100
    ) -> Sequence[Any]:
        """Return the products that the caller finds."""
        node = parse_query(query, Subject.PRODUCTS) if isinstance(query, str) else query
        wanted = ProductQuery(query=node, before=before, limit=limit, limits=LIMITS)
        return await self.site.api.query_products(self.site.caller, wanted)

    async def test_products_are_kept_when_their_job_has_ended_well(self) -> None:
        """Nobody sees them before, and those of a job that failed are forgotten."""
        batch_id = await self.site.submit(2)
        good, bad = sorted(await self.site.claim(), key=lambda one: one.job_id)
        await self.name_products(good, {"type": "FSC", "n": 1}, {"type": "RLIE"})
        await self.name_products(bad, {"type": "FSC"})
        assert await self.found_products() == []
        await self.site.end(good)
        await self.site.end(bad, reason=Reason.EXIT)
        second, first = await self.found_products()
        assert first["product"] == {"type": "FSC", "n": 1}
        assert first["inputs"] == [{"from": "file:///data/a"}]
        assert (first["batch_id"], first["job_id"], first["line"]) == (batch_id, good.job_id, 1)
        assert second["line"] == first["line"] + 1
        assert await self.found_products("type = FSC and n = 1") == [first]
        assert await self.found_products(f"batch_id = b{batch_id} and not type = FSC") == [second]
        assert await self.found_products("rlie or RLI and kept_at > 2020-01-01") == [second]
        assert await self.found_products("user = nobody or job.tile = 32TLR") == []
        assert await self.found_products(
            f"billing_project = default and job_id = {good.job_id}", limit=1
        )
        assert await self.found_products(before=second["id"], limit=1) == [first]

    async def test_nobody_else_sees_or_removes_a_product(self) -> None:
        """Its tenant does, once."""
        api, caller, stranger = self.site.api, self.site.caller, self.site.stranger
        await self.site.submit(1)
        (one,) = await self.site.claim()
        await self.name_products(one, {"type": "FSC"})
        await self.site.end(one)
        (product,) = await self.found_products()
        number = product["id"]
        wanted = ProductQuery(limit=9, limits=LIMITS)
        assert list(await api.query_products(stranger, wanted)) == []
        assert await api.get_product(stranger, number) is None
        assert not await api.remove_product(stranger, number)
        assert await api.get_product(caller, number) == product
        assert await api.remove_product(caller, number)
        assert not await api.remove_product(caller, number)
        assert await self.found_products() == []
