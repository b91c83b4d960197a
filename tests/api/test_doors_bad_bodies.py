"""Bodies, media and texts that mean harm, on routes of JobWeaver, Agave and TES: refused in the
form of the door, never a 500, and nothing is stored.
"""

import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from httpx import AsyncClient

from api.test_bad_input import BODIES
from cases import cases
from weft.run.doors import api_doors

LIVE_DOORS = api_doors()
JSON = {"content-type": "application/json"}
TASKS = "/ga4gh/tes/v1/tasks"
DOORS = {
    "jobweaver": ("/api/jobs", "errorCode"), "agave": ("/jobs/v2", "message"),
    "tes": (TASKS, "detail"),
}  # fmt: skip
TOO_MANY = 17 << 20
"""Bytes: a MiB more than a body may have."""
STEPS = {"jobType": "SIMULATION", "payload": {"steps": []}, "maxRetryCount": 0}
WEAVER_BODIES = [
    b'{"jobType": "SIMULATION", "payload": {"steps": []}, "maxRetryCount": 1e400}',
    b'{"jobType": "SIMULATION", "payload": {"steps": []}, "maxRetryCount": 1' + b"0" * 5000 + b"}",
    b'{"jobType": "SIMULATION", "payload": {"steps": [{"action": "LOG", "message": "a\\u0000"}]}}',
    b'{"jobType": "SIMULATION", "payload": {"steps": {"a": 1}}, "maxRetryCount": 0}',
    json.dumps(STEPS).encode("utf-16"),
    b"\xef\xbb\xbf" + json.dumps(STEPS).encode(),
]
HOSTILE = (
    "'; DROP TABLE weft.batch; --", "' OR '1'='1", "%", "_", "\\", "x' UNION SELECT 1", "$1",
    "{0}", "1) OR (1=1", "a' || pg_sleep(9) || '",
)  # fmt: skip
FIELDS = ("name", "appId", "id", "owner", "status", "archivePath", "inputs", "endTime", "runtime")


@pytest.fixture
async def untouched(http: AsyncClient) -> AsyncIterator[AsyncClient]:
    """Give a client; see at the end that no job has come."""
    yield http
    assert (await http.get("/v1/batches")).json()["items"] == []


def check(answer: httpx.Response, door: str, what: object) -> None:
    assert 400 <= answer.status_code < 500, (what, answer.text)
    assert answer.json()[DOORS[door][1]], (what, answer.text)


@cases("door", DOORS)
async def test_bodies_that_cannot_be_read_are_refused_in_the_form_of_the_door(
    untouched: AsyncClient, door: str
) -> None:
    """Not JSON, too deep, too large a number, broken texts, and other media than JSON."""
    path, _ = DOORS[door]
    for body in [*(one for one, _ in BODIES), *WEAVER_BODIES]:
        check(await untouched.post(path, content=body, headers=JSON), door, body[:60])
    bomb = gzip.compress(b" " * 50_000_000)
    packed = await untouched.post(path, content=bomb, headers={**JSON, "content-encoding": "gzip"})
    check(packed, door, "a bomb")
    for media in ("application/xml", "text/plain", "multipart/form-data; boundary=x"):
        answer = await untouched.post(path, content=b"<a/>", headers={"content-type": media})
        check(answer, door, media)


@cases("door", DOORS)
async def test_bodies_beyond_the_limit_are_refused(untouched: AsyncClient, door: str) -> None:
    """By their length, and without one."""
    path, _ = DOORS[door]

    async def without_a_length() -> AsyncIterator[bytes]:
        for _ in range(TOO_MANY >> 19):
            yield b" " * (1 << 20)

    for content in (b" " * TOO_MANY, without_a_length()):
        answer = await untouched.post(path, content=content, headers=JSON)
        assert answer.status_code == 413, answer.text
        check(answer, door, "a MiB more")


@pytest.mark.heavy
async def test_texts_of_searches_are_only_values(http: AsyncClient) -> None:
    """In each field, order and path; of JobWeaver, too."""
    headers = {"idempotency-key": "1"}
    made = await http.post("/api/jobs", json=STEPS, headers=headers)
    assert made.status_code == 202
    wrong: dict[str, Any] = {}
    for text in HOSTILE:
        asked = [("/jobs/v2", {field: text}) for field in FIELDS]
        asked += [("/jobs/v2", {f"{field}.like": text}) for field in ("name", "appId", "owner")]
        asked += [("/jobs/v2", {"sortBy": text}), ("/jobs/v2", {"filter": text})]
        asked += [(f"/jobs/v2/search/name/{text.replace('/', '')}", {}), (f"/jobs/v2/{text}", {})]
        asked += [("/internal/jobs", {name: text}) for name in ("status", "sort", "page", "size")]
        asked += [(TASKS, {"name_prefix": text, "tag_key": text}), (f"{TASKS}/{text}", {})]
        asked += [("/api/jobs", {"type": text}), (f"/internal/executions/{text}", {})]
        for path, query in asked:
            answer = await http.get(path, params=query)
            if answer.status_code >= 500 or made.json()["jobId"] in answer.text:
                wrong[f"{path} {query}"] = answer.text
    assert wrong == {}
    listed = (await http.get("/api/jobs")).json()["jobs"]
    assert [one["id"] for one in listed] == [made.json()["jobId"]]
