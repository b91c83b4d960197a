"""Large arguments are sent in parts, ahead of the job that names them by their digest."""

import hashlib
from typing import Any

import httpx

from api.live import LiveApi, make_user
from weft.core.errors import BatchCancelled, Forbidden, InvalidValue
from weft.wire.payload import PART_BYTES

DATA = bytes(PART_BYTES) + b"end"
DIGEST = hashlib.sha256(DATA).hexdigest()


def job(digest: str = DIGEST, **fields: object) -> dict[str, Any]:
    return {"function": {"call": "builtins:len", "arguments_digest": digest, **fields}}


async def new_batch(http: httpx.AsyncClient) -> str:
    return f"/v1/batches/{(await http.post('/v1/batches', json={})).json()['id']}"


async def send(
    http: httpx.AsyncClient,
    batch: str,
    part: int | str = 1,
    *,
    body: bytes | None = None,
    digest: str = DIGEST,
    n_bytes: int | str = len(DATA),
) -> httpx.Response:
    if body is None:
        body = DATA[(int(part) - 1) * PART_BYTES : int(part) * PART_BYTES]
    path = f"{batch}/payloads/{digest}/{part}"
    return await http.put(path, params={"bytes": n_bytes}, content=body)


async def test_jobs_are_taken_when_their_payload_is_there(http: httpx.AsyncClient) -> None:
    batch = await new_batch(http)
    first = await send(http, batch)
    ask = {"jobs": [{}, job(), {"code": {"digest": DIGEST}}]}
    early = [await http.post(to, json=ask) for to in (f"{batch}/updates", "/v1/batches")]
    await send(http, batch, 2)
    last = await send(http, batch, 2)
    taken = await http.post(f"{batch}/updates", json=ask)
    shown = (await http.get(f"{batch}/jobs/2")).json()["spec"]["function"]

    assert (first.status_code, first.json()) == (200, {"part": 1, "n_parts": 2})
    for refused, to_new in zip(early, (False, True), strict=True):
        assert (refused.json()["code"], "Schedules" in refused.text) == (InvalidValue.code, to_new)
        pointers = [one["pointer"] for one in refused.json()["errors"]]
        assert pointers == ["/jobs/1/function/arguments_digest", "/jobs/2/code/digest"]
    assert (last.status_code, taken.status_code) == (200, 201)
    assert shown == {"call": "builtins:len", "arguments_digest": DIGEST}


async def test_what_is_wrong_with_a_digest_is_named(http: httpx.AsyncClient) -> None:
    batch = await new_batch(http)
    await send(http, batch)
    await send(http, batch, 2)
    for wrong in [job("A" * 64), job("0"), job(args=[1]), job(arguments="YQ==")]:
        refused = await http.post(f"{batch}/updates", json={"jobs": [wrong]})

        assert refused.status_code == 400
        assert refused.json()["errors"][0]["pointer"].startswith("/jobs/0/function/arguments")


async def test_parts_of_a_wrong_size_are_refused(http: httpx.AsyncClient) -> None:
    cases: list[tuple[Any, ...]] = [
        (1, b"short", len(DATA), 400),
        (2, b"long", len(DATA), 400),
        (3, b"", len(DATA), 400),
        (3, b"more", len(DATA), 400),
        (1, bytes(PART_BYTES + 1), len(DATA), 413),
        (1, b"", (256 << 20) + 1, 413),
        (1, b"", "many", 400),
        (0, b"", len(DATA), 400),
        ("x", b"", len(DATA), 400),
    ]
    for part, body, n_bytes, status in cases:
        refused = await send(http, await new_batch(http), part, body=body, n_bytes=n_bytes)

        assert refused.status_code == status
        assert refused.json()["hint"]
        assert ("payload_bytes_max" in refused.json()["detail"]) == (n_bytes == (256 << 20) + 1)


async def test_the_length_and_a_digest_are_asked_for(http: httpx.AsyncClient) -> None:
    batch = await new_batch(http)
    assert (await http.put(f"{batch}/payloads/{DIGEST}/1", content=b"x")).status_code == 400
    assert (await send(http, batch, digest="ff")).status_code == 400


async def test_only_the_owner_sends_payloads_and_only_to_an_open_batch(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    batch = await new_batch(http)
    await make_user(database["admin"], user="eve", token="token-of-eve")
    async with api.client(authorization="Bearer token-of-eve") as eve:
        refused = await send(eve, batch)
    await http.post(f"{batch}/cancel", json={})
    closed = await send(http, batch)

    assert (refused.status_code, refused.json()["code"]) == (403, Forbidden.code)
    assert (closed.status_code, closed.json()["code"]) == (409, BatchCancelled.code)
