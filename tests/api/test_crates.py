"""Crates, which clients make of what the api says."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from api.live import LiveApi, LiveWorker
from api.test_products import make
from weft.aio import Client
from weft.client.objects.crate_calls import CrateTooLarge, NotEnded
from weft.client.sync import Client as WaitingClient
from weft.core.files.crate import METADATA, WORKFLOW


async def test_both_clients_make_crates(
    api: LiveApi, http: httpx.AsyncClient, worker: LiveWorker, tmp_path: Path
) -> None:
    batch = await make(http, worker, 2)
    token = http.headers["authorization"].removeprefix("Bearer ")
    async with Client(api.url, token, home=tmp_path) as client:
        texts = await client.export_crate(batch, licence="CC0")
        assert set(texts) == {METADATA, WORKFLOW}
        of_job = await client.export_crate(batch, 1)
    graph = {one["@id"]: one for one in json.loads(texts[METADATA])["@graph"]}
    assert graph[f"#b{batch}.j1"]["result"] == [{"@id": "#product-1"}, {"@id": "#product-2"}]
    assert graph["./"]["license"] == "CC0"
    assert f"#run-b{batch}.j1" in of_job[METADATA]

    def wait() -> str:
        with WaitingClient(api.url, token, home=tmp_path) as client:
            return client.export_crate(batch, licence="CC0")[WORKFLOW]

    assert await asyncio.to_thread(wait) == texts[WORKFLOW]


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
