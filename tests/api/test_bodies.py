"""What stands in a body never holds up others, whoever sends it."""

# ruff: noqa: UP031 (JSON is full of braces)

import asyncio
from collections.abc import Iterator

import pytest
from httpx import AsyncClient

from api.live import LiveApi
from weft.api.http.browsers import FORM
from weft.api.http.decoding import JSON, MSGPACK
from weft.api.http.requests import STRANGER_BYTES_MAX
from weft.run.doors import api_doors
from weft.telemetry.loop_watch import watch_loop

LIVE_DOORS = api_doors()
CHANGING = ("POST", "PUT", "PATCH", "DELETE")


@pytest.mark.parametrize("media", [JSON, MSGPACK, FORM])
async def test_of_strangers_no_route_reads_a_large_body(api: LiveApi, media: str) -> None:
    """Those without a right ask for no token; all others refuse before they read."""
    stranger = AsyncClient(base_url=api.url, headers={"content-type": media, "origin": api.url})
    async with stranger:
        for route in api.app.router.routes:
            if route.method not in CHANGING:
                continue
            for path in route.path_formats:
                is_open = api.app.rights[f"{route.method} {path}"] is None
                for size in (STRANGER_BYTES_MAX, STRANGER_BYTES_MAX + 1):
                    answer = await stranger.request(route.method, path, content=b"%" * size)
                    is_large = size > STRANGER_BYTES_MAX
                    assert answer.status_code < 500, (path, answer.text)
                    if is_open and route.method == "POST" and path not in UNREAD:
                        assert (answer.status_code in {413, 415}) >= is_large, (path, answer.text)


UNREAD = ("/logout",)
"""Routes for strangers that read no body without a session."""


N = 480_000
"""Items: nearly as many as are read."""
FILL_BYTES = 15 << 20
STOOD_S = 3.0
"""On a busy machine: all of these take a fraction of it, and took from 10 to 80 s in the loop."""
SENT = {
    JSON: ("/v1/batches", "/ga4gh/tes/v1/tasks", "/api/jobs"),
    MSGPACK: ("/v1/batches",),
    FORM: ("/ui/batches/1/cancel",),
}


def mapping(value: str) -> str:
    return "{%s}" % ",".join(f'"a{n:x}":{value}' for n in range(N))


def items(value: str, n: int = N) -> str:
    return "[%s]" % ",".join([value] * n)


def bodies() -> Iterator[tuple[str, str, bytes | str]]:
    """Yield what takes the longest to read and check: what it is, its type, and what it says."""
    names = "[%s]" % ",".join(f'"a{n:x}"' for n in range(N))
    texts, half, backslash = mapping('"x"'), r"\ud800", r"\\"
    yield "unknown fields", JSON, mapping("0")
    yield "unknown fields of jobs", JSON, '{"jobs":%s}' % items('{"comand":0}', N // 2)
    yield "wrong items", JSON, '{"jobs":%s}' % items("0")
    yield "wrong words", JSON, '{"jobs":[{"command":%s}]}' % items("0")
    for field in ("env", "attributes"):
        yield f"wide {field}", JSON, '{"jobs":[{"%s":%s}]}' % (field, texts)
    for field in ("parents", "groups", "command", "values"):
        yield f"wide {field}", JSON, '{"jobs":[{"%s":%s}]}' % (field, names)
    yield "attributes of a batch", JSON, '{"jobs":[{}],"attributes":%s}' % texts
    yield "groups", JSON, '{"groups":%s}' % items('{"path":"/a"}', N // 2)
    yield "jobs", JSON, '{"jobs":%s}' % items('{"command":["true"]}', N // 4)
    yield "nested", JSON, "[" * FILL_BYTES
    yield "all nested", JSON, items("[" * 90 + "]" * 90, 5_000)
    yield "a long name", JSON, '{"%s":1}' % ("a" * FILL_BYTES)
    yield "escapes", JSON, '{"name":"%s"}' % (backslash * (FILL_BYTES // 2))
    yield "halves", JSON, '{"name":"%s"}' % (half * (FILL_BYTES // 6))
    yield "too many", JSON, items("0", FILL_BYTES // 2)
    steps = '{"steps":%s}' % items('{"action":"FAIL"}', N // 2)
    yield "steps", JSON, '{"jobType":"SIMULATION","maxRetryCount":1,"payload":%s}' % steps
    yield "a task", JSON, '{"executors":[{"image":"a","command":["a"],"env":%s}]}' % texts
    head = b"\xdd" + N.to_bytes(4, "big")
    yield "lists of msgpack", MSGPACK, head + b"\x90" * N
    yield "texts of msgpack", MSGPACK, head + b"\xa1a" * N
    yield "too many of msgpack", MSGPACK, b"\xdd\x00\xf0\x00\x00" + b"\x90" * FILL_BYTES
    fields = b"".join(b"\xa5%05x\x00" % n for n in range(N))
    yield "unknown fields of msgpack", MSGPACK, b"\xdf" + N.to_bytes(4, "big") + fields
    yield "a form", FORM, "csrf_token=" + "%41" * ((255 << 10) // 3)
    yield "a large form", FORM, "csrf_token=" + "%41" * (FILL_BYTES // 3)
    yield "fields of a form", FORM, "a=1&" * ((255 << 10) // 4)


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_no_body_holds_up_others(api: LiveApi, http: AsyncClient) -> None:
    """Whatever is sent at its limit: the loop goes on, and little memory is taken."""
    wrong, stood = list[object](), list[tuple[float, str]]()
    watching = asyncio.create_task(watch_loop(0.2, lambda *one: stood.append(one)))
    await http.post("/v1/batches", json={"jobs": [{}]})
    for what, media, body in bodies():
        for path in SENT[media]:
            stood.clear()  # making the body holds up this loop, too
            headers = {"content-type": media, "origin": api.url}
            answer = await http.post(path, content=body, headers=headers)
            for _ in range(3):
                await http.get("/healthz")
            wrong += [(what, path, one) for one in stood if one[0] > STOOD_S]
            if not 200 <= answer.status_code < 500:
                wrong.append((what, path, answer.text[:500]))
    watching.cancel()
    assert wrong == []
