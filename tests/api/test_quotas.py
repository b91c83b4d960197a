"""Quotas over HTTP, by the clients and by the command."""

import asyncio
import json
from typing import Any

import pytest
from httpx import AsyncClient

from api.live import TOKEN, Commands, LiveApi
from weft.aio import Client
from weft.core.errors import QuotaExceeded


async def test_refusal_says_when_to_try_again(http: AsyncClient, api: LiveApi) -> None:
    """A client fails at once, because the wait is longer than its patience."""
    quota = await http.patch("/v1/users/tester/quota", json={"jobs": 1})
    refused = await http.post("/v1/batches", json={"jobs": [{}, {}]})
    async with Client(url=api.url, token=TOKEN) as client:
        builder = client.create_batch()
        for _ in range(2):
            builder.create_job(["true"])
        async with asyncio.timeout(60):
            with pytest.raises(QuotaExceeded) as raised:
                await builder.submit(progress=False)

    assert quota.json()["jobs"] == 1
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    assert refused.json()["code"] == raised.value.code == "API.QUOTA_EXCEEDED"
    assert "0 jobs have not ended and 2 would come" in refused.json()["detail"]
    assert (await http.get("/v1/batches")).json()["items"] == []


async def test_jobs_that_are_sent_and_batches_without_jobs_are_refused(http: AsyncClient) -> None:
    """Both as submissions are; what was sent and not committed is shown as stored."""
    batch = f"/v1/batches/{(await http.post('/v1/batches', json={})).json()['id']}"
    reserved = await http.post(f"{batch}/updates", json={"n_jobs": 2})
    bunches = f"{batch}/updates/{reserved.json()['update_id']}/jobs"
    first = await http.post(bunches, json={"first": 1, "jobs": [{}]})
    (mine,) = [one for one in await items(http) if one["kind"] == "user"]
    await http.patch("/v1/users/tester/quota", json={"batches": 1, "bytes": mine["n_bytes"]})
    refused = [
        await http.post(bunches, json={"first": 2, "jobs": [{}]}),
        await http.post("/v1/batches", json={}),
    ]

    assert first.status_code == 201
    assert mine["n_batches"] == 1
    assert mine["n_bytes"] > 0
    assert [one.status_code for one in refused] == [429, 429]
    assert {one.json()["code"] for one in refused} == {"API.QUOTA_EXCEEDED"}
    assert {one.headers["retry-after"] for one in refused} == {"60"}


async def test_upload_that_is_refused_leaves_nothing(http: AsyncClient, api: LiveApi) -> None:
    """Its new batch is deleted, because what was sent would count as stored."""
    await http.patch("/v1/users/tester/quota", json={"jobs": 10})
    async with Client(url=api.url, token=TOKEN) as client:
        builder = client.create_batch()
        for _ in range(3000):
            builder.create_job(["true"])
        async with asyncio.timeout(60):
            with pytest.raises(QuotaExceeded):
                await builder.submit(progress=False)

    assert (await http.get("/v1/batches")).json()["items"] == []


async def items(http: AsyncClient) -> list[dict[str, Any]]:
    """Return the quotas."""
    found: list[dict[str, Any]] = (await http.get("/v1/quotas")).json()["items"]
    return found


async def test_wrong_quota_is_refused(http: AsyncClient) -> None:
    for path, edit, status in [
        ("users/nobody/quota", {"jobs": 1}, 404),
        ("tenants/none/quota", {"jobs": 1}, 404),
        ("user-quota", {"jobs": -1}, 400),
        ("user-quota", {"jobs": 1.5}, 400),
        ("user-quota", {"jobs": 10**400}, 400),
        ("user-quota", {"cores": -0.5}, 400),
        ("user-quota", {"cores": 10**400}, 400),
        ("user-quota", {"cores": "many"}, 400),
        ("user-quota", {"bytes": -1}, 400),
        ("user-quota", {"gpus": 1}, 400),
    ]:
        answer = await http.patch(f"/v1/{path}", json=edit)

        assert answer.status_code == status
        if "tenants" in path:
            assert answer.json()["code"] == "API.TENANT_NOT_FOUND"


async def test_clients_and_the_command_line_set_and_list_quotas(
    http: AsyncClient, api: LiveApi, command: Commands
) -> None:
    await http.post("/v1/batches", json={"jobs": [{}] * 3})
    async with Client(url=api.url, token=TOKEN) as client:
        await client.set_quota(None, {"jobs": 1000, "cores": 1.5, "bytes": 3 * 2**30})
        (tenant, *_) = await client.list_quotas()
        limited = await client.set_tenant_quota(tenant["name"], {"batches": 50, "cores": 8})
    printed = [
        await command("quota", *words)
        for words in (
            ["set", "--user", "tester", "--batches", "7", "--cores", "500m", "--bytes", "1Mi"],
            ["ls"],
            ["ls", "--json"],
            ["set", "--user", "tester", "--default-user", "--jobs", "1"],
            ["set", "--default-user"],
            ["set", "--default-user", "--jobs", "many"],
            ["set", "--default-user", "--cores", "many"],
            ["set", "--user", "tester", "--cores", "0", "--bytes", "none"],
        )
    ]
    done, table, document, *wrong, last = printed

    assert (limited["kind"], limited["batches"], limited["cores"]) == ("tenant", 50, 8)
    assert (
        "user tester: any number of jobs and at most 7 batches that have not ended, "
        "at most 0.5 running cores, at most 1.0 MiB stored"
    ) in done[2]
    assert [one[0] for one in printed] == [0, 0, 0, 2, 2, 2, 2, 0]
    assert "each user" in table[1]
    assert "3.0 GiB" in table[1]
    found = json.loads(document[1])
    assert [(one["jobs"], one["n_jobs"], one["batches"]) for one in found] == [
        (None, 3, 50),
        (1000, None, None),
        (1000, 3, 7),
    ]
    assert [(one["cores"], one["n_cores"], one["bytes"]) for one in found] == [
        (8, 0, None),
        (1.5, None, 3 * 2**30),
        (0.5, 0, 2**20),
    ]
    assert found[0]["n_bytes"] == found[2]["n_bytes"] > 0
    assert "Exactly one of" in wrong[0][2]
    assert "no quota is given" in wrong[1][2]
    assert "neither a number nor none" in wrong[2][2]
    assert "not a number of cores" in wrong[3][2]
    assert "at most 7 batches that have not ended, at most 0 running cores, any amount" in last[2]
