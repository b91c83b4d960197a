"""`/v1/stores`: operators set stores, members see them, nobody sees a credential."""

import json
from dataclasses import replace

from httpx import AsyncClient

from api.live import LiveApi, trail
from weft.core.addresses import parse_allowed_hosts
from weft.core.files.file_stores import parse_bucket, wrong_endpoint

PATH = "/v1/stores/results"
SOUND = {"url": "s3://results/lab-7/", "access": "write", "secret": "key"}
CANARY = "AKIACANARY:canary-of-a-store"


async def test_a_store_names_a_secret_and_never_shows_it(
    http: AsyncClient, database: dict[str, str]
) -> None:
    refused = await http.put(PATH, json=SOUND)
    (wrong,) = refused.json()["errors"]
    assert (refused.status_code, wrong["pointer"]) == (400, "/secret")
    await http.put("/v1/secrets/key", json={"value": CANARY})

    saved = await http.put(PATH, json=SOUND)
    listed = await http.get("/v1/stores")
    shown = await http.get(PATH)

    assert saved.json() == shown.json() == listed.json()["items"][0]
    assert shown.json()["url"] == "s3://results/lab-7"
    assert (shown.json()["secret"], shown.json()["is_ready"]) == ("key", True)
    assert "canary" not in saved.text + listed.text + shown.text
    entries = await trail(http, database)
    assert {"save_store", "set_secret"} <= {one["action"] for one in entries}
    assert "canary" not in json.dumps(entries)
    await http.delete("/v1/secrets/key")
    assert (await http.get(PATH)).json()["is_ready"] is False
    assert (await http.request("DELETE", PATH, json={})).json() == {"name": "results"}
    gone = await http.get(PATH)
    assert (gone.status_code, gone.json()["code"]) == (404, "API.FILE_STORE_NOT_FOUND")


async def test_a_wrong_store_is_refused_with_the_field(http: AsyncClient) -> None:
    await http.put("/v1/secrets/key", json={"value": CANARY})
    sound = {"url": "s3://results", "access": "read", "credentials": "env"}
    for change, pointer in [
        ({"url": "s3://UP/../x"}, "/url"),
        ({"url": "https://bucket"}, "/url"),
        ({"url": "s3://b"}, "/url"),
        ({"endpoint": "http://169.254.169.254"}, "/endpoint"),
        ({"endpoint": "http://127.1"}, "/endpoint"),
        ({"endpoint": "http://localhost:9000"}, "/endpoint"),
        ({"endpoint": "https://ada:pw@example.org"}, "/endpoint"),
        ({"endpoint": "https://example.org/path"}, "/endpoint"),
        ({"region": "eu/west"}, "/region"),
        ({"secret": "key"}, "/secret"),
        ({"credentials": "secret"}, "/secret"),
    ]:
        answer = await http.put(PATH, json={**sound, **change})

        assert answer.status_code == 400
        assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]


async def test_a_tenant_has_a_limited_number_of_stores(http: AsyncClient, api: LiveApi) -> None:
    services = api.app.services
    services.settings = replace(services.settings, stores_max=1)
    document = {"url": "s3://results", "access": "read", "credentials": "instance-role"}
    first = await http.put(PATH, json=document)
    again = await http.put(PATH, json={**document, "access": "write"})
    second = await http.put("/v1/stores/other", json=document)

    assert (first.status_code, again.json()["access"]) == (200, "write")
    assert (second.status_code, second.json()["code"]) == (409, "API.TOO_MANY_FILE_STORES")


def test_private_hosts_are_allowed_by_their_setting() -> None:
    assert parse_bucket("s3://results/a/b") == ("results", "a/b/")
    assert parse_bucket("s3://results") == ("results", "")
    wrong = wrong_endpoint("http://10.0.0.1:9000", parse_allowed_hosts(""))
    assert wrong is not None
    assert "store_private_hosts" in wrong
    assert wrong_endpoint("http://10.0.0.1:9000", parse_allowed_hosts("10.0.0.0/8")) is None
