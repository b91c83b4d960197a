"""Results of functions over HTTP: short, long, spoiled, none."""

import base64
from typing import Any

import httpx
import msgspec
import pytest

from api.live import LiveWorker
from weft.wire.function import ResultHead, encode_head


def result(value: bytes, error: bytes = b"", traceback: str = "") -> bytes:
    head = ResultHead("pickle", len(value), len(error), traceback, 0.5)
    return encode_head(head) + value + error


async def read(http: httpx.AsyncClient, batch_id: int, jobs: str) -> list[dict[str, Any]]:
    reply = await http.get(f"/v1/batches/{batch_id}/results", params={"jobs": jobs})
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/x-ndjson"
    return [msgspec.json.decode(line) for line in reply.content.splitlines()]


@pytest.fixture
async def batch_id(http: httpx.AsyncClient) -> int:
    jobs = [{"function": {"call": "a:b"}}] * 5
    return int((await http.post("/v1/batches", json={"jobs": jobs})).json()["id"])


async def test_results_of_jobs_that_have_ended(
    http: httpx.AsyncClient, worker: LiveWorker, batch_id: int
) -> None:
    claimed = await worker.claim_and_start()
    long = bytes(range(256)) * 4000
    worker.keep_result(claimed[0], result(b"one"))
    worker.keep_result(claimed[1], result(b"part", b"oops", "Traceback ..."))
    worker.keep_result(claimed[2], result(long, b"x" * 300_000, "Traceback ..."))
    worker.keep_result(claimed[3], b"\xff" * 100)
    await worker.end(claimed[:1])
    await worker.end(claimed[1:4], exit_code=1)

    rows = await read(http, batch_id, "1-3,4,5")

    assert [row["job_id"] for row in rows] == [1, 2, 3, 4]
    assert [row["state"] for row in rows] == ["success", "failed", "failed", "failed"]
    assert rows[0]["value"] == base64.b64encode(b"one").decode()
    assert (rows[0]["form"], rows[0]["seconds"], rows[0]["error"]) == ("pickle", 0.5, None)
    assert (rows[0]["traceback"], rows[1]["traceback"]) == (None, "Traceback ...")
    assert base64.b64decode(rows[1]["error"]) == b"oops"
    assert base64.b64decode(rows[2]["value"]) == long
    assert base64.b64decode(rows[2]["error"]) == b"x" * 300_000
    assert (rows[3]["form"], rows[3]["value"], rows[3]["exit_code"]) == (None, None, 1)


async def test_a_result_that_promises_more_than_it_has_ends_early(
    http: httpx.AsyncClient, worker: LiveWorker, batch_id: int
) -> None:
    claimed = await worker.claim_and_start()
    head = ResultHead("pickle", 1 << 40, 1 << 40, "", 0.0)
    worker.keep_result(claimed[0], encode_head(head) + b"short")
    await worker.end(claimed[:1])

    (row,) = await read(http, batch_id, "1")
    assert (base64.b64decode(row["value"]), row["error"]) == (b"short", "")


async def test_a_job_without_a_function_has_no_result(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    created = await http.post("/v1/batches", json={"jobs": [{}]})
    claimed = await worker.claim_and_start()
    await worker.end(claimed)

    (row,) = await read(http, int(created.json()["id"]), "1")
    assert (row["state"], row["form"], row["value"]) == ("success", None, None)


async def test_numbers_that_are_wrong_are_refused(http: httpx.AsyncClient, batch_id: int) -> None:
    for jobs in ["0", "x", "1-1001", "", "3-1"]:
        reply = await http.get(f"/v1/batches/{batch_id}/results", params={"jobs": jobs})

        assert (reply.status_code, reply.json()["code"]) == (400, "API.INVALID_PARAMETER")
