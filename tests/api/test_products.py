"""`/v1/products`: pages, queries, and clients, which make crates of what the api says."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from api.live import LiveApi, LiveWorker
from weft.aio import Client
from weft.client.objects.crate_calls import CrateTooLarge, NotEnded
from weft.client.sync import Client as WaitingClient
from weft.core.errors import BadQuery, ProductNotFound
from weft.core.files.crate import METADATA, WORKFLOW
from weft.core.states import AttemptKey


async def make(http: httpx.AsyncClient, worker: LiveWorker, n: int) -> int:
    """Let a job name products; return its batch."""
    made = await http.post("/v1/batches", json={"jobs": [{"attributes": {"source": "l1c"}}]})
    (one,) = await worker.claim(1)
    products = [{"type": "FSC" if i % 2 else "RLIE", "n": i} for i in range(n)]
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    await worker.store.record_products(worker.incarnation_id, key, products, inputs=None)
    await worker.start([one])
    await worker.end([one])
    return int(made.json()["id"])


async def test_products_come_in_pages_and_by_queries(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    await make(http, worker, 5)
    seen, cursor = [], None
    while True:
        query = {"q": "type = FSC or job.source = l1c", "limit": "2", "cursor": cursor}
        page = (
            await http.get("/v1/products", params={k: v for k, v in query.items() if v})
        ).json()
        seen += [one["product"]["n"] for one in page["items"]]
        if (cursor := page["cursor"]) is None:
            break
    assert seen == [4, 3, 2, 1, 0]
    other = await http.get("/v1/products", params={"q": "x", "cursor": "cHJvZHVjdDox"})
    assert other.status_code == 400
    wrong = await http.get("/v1/products", params={"q": "type ="})
    assert wrong.json()["code"] == "API.INVALID_QUERY"
    assert (await http.get("/v1/products/x")).status_code == 400


async def test_both_clients_find_and_remove_products_and_make_crates(
    api: LiveApi, http: httpx.AsyncClient, worker: LiveWorker, tmp_path: Path
) -> None:
    batch = await make(http, worker, 2)
    token = http.headers["authorization"].removeprefix("Bearer ")
    async with Client(api.url, token, home=tmp_path) as client:
        texts = await client.export_crate(batch, licence="CC0")
        assert set(texts) == {METADATA, WORKFLOW}
        of_job = await client.export_crate(batch, 1)
        (one,) = [product async for product in client.list_products("type = FSC")]
        assert (one["batch_id"], one["attributes"]) == (batch, {"source": "l1c"})
        assert await client.get_product(one["id"]) == one
        await client.remove_product(one["id"])
        with pytest.raises(ProductNotFound):
            await client.remove_product(one["id"])
        with pytest.raises(BadQuery):
            [product async for product in client.list_products("(")]

    def wait() -> tuple[int, str]:
        with WaitingClient(api.url, token, home=tmp_path) as client:
            crate = client.export_crate(batch, licence="CC0")
            return len(list(client.list_products())), crate[WORKFLOW]

    assert await asyncio.to_thread(wait) == (1, texts[WORKFLOW])
    graph = {one["@id"]: one for one in json.loads(texts[METADATA])["@graph"]}
    assert graph[f"#b{batch}.j1"]["result"] == [{"@id": "#product-1"}, {"@id": "#product-2"}]
    assert graph["./"]["license"] == "CC0"
    assert f"#run-b{batch}.j1" in of_job[METADATA]


async def test_what_has_not_ended_or_is_too_large_is_refused(
    api: LiveApi, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    made = await http.post("/v1/batches", json={"jobs": [{"count": 10_001}]})
    large = made.json()["id"]
    small = (await http.post("/v1/batches", json={"jobs": [{}]})).json()["id"]
    token = http.headers["authorization"].removeprefix("Bearer ")
    async with Client(api.url, token, home=tmp_path) as client:
        with pytest.raises(CrateTooLarge):
            await client.export_crate(large)
        for target in ((small,), (small, 1)):
            with pytest.raises(NotEnded):
                await client.export_crate(*target)
