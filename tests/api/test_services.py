"""Services of a tenant: one of a name at a time, whoever submits it, and again after its end."""

import asyncpg
import httpx

from weft.sql import text_of


async def submitted(http: httpx.AsyncClient, *names: str) -> httpx.Response:
    jobs = [{"name": name, "command": ["true"], "service": {}} for name in names]
    return await http.post("/v1/batches", json={"name": "x", "jobs": jobs})


async def test_one_service_of_a_name_has_not_ended(
    http: httpx.AsyncClient, admin: asyncpg.Connection
) -> None:
    assert (await submitted(http, "a", "b")).status_code == 201
    for names in (("b",), ("c", "a")):
        refused = await submitted(http, *names)
        assert refused.status_code == 409, refused.text
        assert refused.json()["code"] == "API.SERVICE_RUNS"
    assert (await submitted(http, "c")).status_code == 201  # the refused one has not taken it
    shown = (await http.get("/v1/batches/1/jobs/1")).json()
    assert shown["service"] == {}
    check = text_of("audit", "services_have_names")
    assert await admin.fetch(check) == []
    await admin.execute("DELETE FROM weft.service WHERE name = 'a'")
    assert [row["name"] for row in await admin.fetch(check)] == ["a"]


async def test_a_later_update_does_not_wait_for_a_service(http: httpx.AsyncClient) -> None:
    jobs = [{"name": "a", "command": ["true"], "service": {}}, {"command": ["true"]}]
    assert (await http.post("/v1/batches", json={"name": "x", "jobs": jobs})).status_code == 201

    async def after(*parents: str) -> httpx.Response:
        later = [{"command": ["true"], "parents": parents}]
        return await http.post("/v1/batches/1/updates", json={"jobs": later})

    refused = await after("j2", "b1.j1")
    assert refused.status_code == 400, refused.text
    assert refused.json()["code"] == "API.INVALID_VALUE"
    (error,) = refused.json()["errors"]
    assert error["pointer"] == "/jobs/0/parents/1"
    assert error["message"] == "it would wait for a service, which does not end"
    assert (await after("j2")).status_code == 201
