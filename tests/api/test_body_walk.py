"""Each route that reads a body, with what takes the longest to read at its limit.

Others are answered beside it, and little memory is taken. Routes and their documents are found.
"""

# ruff: noqa: F811, UP031 (`outside` is a fixture; JSON is full of braces)

import asyncio
import ctypes
import gc
import json
import time
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import pytest
from httpx import AsyncClient

from api import test_doors_any_input as doors_
from api.field_walk import _filled, fields_of
from api.live import LiveApi
from api.test_worker_link import Outside, outside  # noqa: F401 (a fixture)
from weft.api.http.browsers import FORM
from weft.api.http.decoding import JSON, MSGPACK
from weft.api.http.routing import Route
from weft.core.bounded import SLOW_NUMBERS_MAX, VALUES_MAX
from weft.ports.worker_link import FRAME_VERSION
from weft.run.doors import api_doors
from weft.telemetry.loop_watch import watch_loop
from weft_link.serving.calls import CALLS

LIVE_DOORS = api_doors()
SETTINGS = doors_.SETTINGS
known = doors_.known
CHANGING = ("POST", "PUT", "PATCH", "DELETE")
SIZES = ((16 << 20) - 4096, 8 << 20, 256 << 10, 64 << 10)
"""Limits of bodies that there are; a route gets the largest that it does not refuse."""
STOOD_S = 0.6
"""Of CPU, also that of a thread that keeps the loop from its turn: the goal is half of it, and an
interpreter that others slow down takes twice as long. It took up to 80 s.
"""
BEAT_S = 0.04
"""Of the watch."""
MEMORY = 10
"""Times the body; a small one may take `MEMORY_BYTES`."""
MEMORY_BYTES = 100 << 20
HOLE = "@hole@"
N = VALUES_MAX - 20_000


class Sent(NamedTuple):
    what: str
    media: str
    body: bytes


def mapping(n: int, value: str) -> str:
    return "{%s}" % ",".join(f'"a{i:x}":{value}' for i in range(n))


def items(n: int, value: str) -> str:
    return "[%s]" % ",".join([value] * n)


def filled(text: str, size: int) -> bytes:
    """Return JSON with blanks up to this size."""
    return text.encode().ljust(size)


def general(size: int) -> Iterator[Sent]:
    """Yield what is sent to all routes."""

    def most(each: int) -> int:
        return min(N, size // each - 20)

    yield Sent("unknown fields", JSON, filled(mapping(most(10), "0"), size))
    yield Sent("wrong items", JSON, filled(items(most(2), "0"), size))
    yield Sent("all nested", JSON, filled(items(most(120), "[" * 50 + "]" * 50), size))
    yield Sent("nested", JSON, b"[" * size)
    yield Sent("too many", JSON, filled(items(size // 2 - 2, "0"), size))
    yield Sent("a long name", JSON, b'{"%s":1}' % (b"a" * (size - 8)))
    yield Sent("halves", JSON, b'{"name":"%s"}' % (rb"\ud800" * (size // 6 - 4)))
    slow = min(SLOW_NUMBERS_MAX, size // 7 - 4)
    yield Sent("slow numbers", JSON, filled(items(slow, "1.5e300"), size))
    yield Sent("very many slow numbers", JSON, filled(items(most(8), "1.5e300"), size))
    n = most(1)
    rest = size - n - 10
    yield Sent("lists of msgpack", MSGPACK, msgpack_list([b"\x90"] * n, rest))
    n = most(7)
    names = b"".join(b"\xa5%05x\x00" % i for i in range(n))
    tail = b"\xa1z\xc6" + (size - len(names) - 12).to_bytes(4, "big")
    head = b"\xdf" + (n + 1).to_bytes(4, "big")
    yield Sent("unknown fields of msgpack", MSGPACK, (head + names + tail).ljust(size - 1, b"\0"))
    yield Sent("a form", FORM, b"csrf_token=" + b"%41" * (size // 3 - 8))
    yield Sent("fields of a form", FORM, b"a=1&" * (size // 4))


def msgpack_list(found: list[bytes], rest: int) -> bytes:
    """Return a list of these, and of as many bytes as it takes for the size."""
    head = b"\xdd" + (len(found) + 1).to_bytes(4, "big") + b"".join(found)
    return head + b"\xc6" + max(0, rest).to_bytes(4, "big") + bytes(max(0, rest))


def widened(document: Any, size: int, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, str]]:  # noqa: ANN401
    """Yield a document with each list or mapping of it as wide as may be, and where that is.
    A place of the document is held open by `HOLE`.
    """

    def most(each: int) -> int:
        return min(N // 2, size // (each + 4) - 20)

    if isinstance(document, dict):
        inside = json.dumps({**document, HOLE: 1}).replace(f'"{HOLE}": 1', "%s", 1)
        for what in ("0", '"x"', '"\\u0000"'):
            n = most(16)
            pairs = mapping(n, '"x"' if what != "0" else "0")[1:-1]
            last = f',"last":{what}'
            yield way, _put(inside, pairs + last)
    elif isinstance(document, list):
        one = json.dumps(document[0]) if document else '"x"'
        yield way, "[%s]" % ",".join([one] * most(len(one) + 1))
        names = ",".join(f'"a{i:x}"' for i in range(most(9)))
        yield (*way, "names"), f"[{names}]"
    pairs_of = document.items() if isinstance(document, dict) else ()
    for name, inner in pairs_of:
        for at, text in widened(inner, size, (*way, name)):
            outer = json.dumps({**document, name: HOLE})
            yield at, _put(outer.replace(f'"{HOLE}"', "%s", 1), text)
    if isinstance(document, list) and document:
        for at, text in widened(document[0], size, (*way, 0)):
            yield at, f"[{text}]"


def _put(text: str, value: str) -> str:
    before, _, after = text.partition("%s")
    return before + value + after


def documents_of(api: LiveApi) -> Mapping[str, list[Any]]:
    """Return sound documents of each route, each with another field, by method and path."""
    found: dict[str, list[Any]] = {}
    for one in fields_of(api.app, (str,), "x"):
        found.setdefault(f"{one.method} {one.path}", []).append(one.document)
    return found


def wide(documents: list[Any], size: int) -> Iterator[Sent]:
    """Yield these documents with something wide in each place, one for each place."""
    seen = set[Any]()
    for document in documents:
        for n, (way, text) in enumerate(widened(document, size)):
            at = (way, n if way == () else text[-40:])
            if at not in seen:
                seen.add(at)
                yield Sent(f"wide {way}", JSON, filled(text, size))


_TRIM = ctypes.CDLL(None).malloc_trim


def memory(name: str) -> int:
    """Return what this process has (`VmRSS`), or had at most since `forget_peak` (`VmHWM`)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) << 10


def forget_peak() -> None:
    gc.collect()
    _TRIM(0)
    Path("/proc/self/clear_refs").write_text("5")


class Walk:
    """Sends bodies, and notes what others felt of it."""

    def __init__(self, http: AsyncClient) -> None:
        self.http = http
        self.wrong: list[Any] = []
        self.read: set[str] = set()
        self._stood: list[tuple[float, str]] = []

    async def __aenter__(self) -> Self:
        watching = watch_loop(BEAT_S, lambda *one: self._stood.append(one), time.process_time)
        self._watching = asyncio.create_task(watching)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()

    async def send(self, method: str, path: str, sent: Sent, **headers: str) -> int:
        """Send it beside a request of another; return the status."""
        forget_peak()
        before = memory("VmRSS")
        await self._ask_on()  # making the body held up this loop, too
        self._stood.clear()
        headers |= {"content-type": sent.media, "origin": str(self.http.base_url).rstrip("/")}
        asking = self.http.request(method, path, content=sent.body, headers=headers)
        answer, beside = await asyncio.gather(asking, self.http.get("/healthz"))
        await self._ask_on()
        grown = memory("VmHWM") - before
        told = (sent.what, sent.media, f"{method} {path}")
        self.wrong += [(*told, one) for one in self._stood if one[0] > STOOD_S]
        if grown > max(MEMORY * len(sent.body), MEMORY_BYTES):
            self.wrong.append((*told, f"{grown >> 20} MiB for {len(sent.body) >> 20}"))
        if answer.status_code >= 500 or beside.status_code != 200:
            self.wrong.append((*told, answer.text[:300]))
        return answer.status_code

    async def _ask_on(self) -> None:
        """Ask until the watch has told how long the loop stood."""
        end = time.monotonic() + 2 * BEAT_S
        while time.monotonic() < end:
            await self.http.get("/healthz")

    async def size_of(self, method: str, path: str, most: int) -> int:
        """Return the largest size that a route takes; 0: it reads nothing."""
        for size in SIZES:
            for media in (JSON, FORM):
                head = {"content-type": media, "origin": str(self.http.base_url).rstrip("/")}
                blank = b" " * min(size, most)
                answer = await self.http.request(method, path, content=blank, headers=head)
                if answer.status_code not in {413, 415}:
                    return min(size, most)
        return 0


def routes_of(api: LiveApi, ids: Mapping[str, str]) -> Iterator[tuple[Route, str]]:
    """Yield each route that changes something, and its path."""
    for route in api.app.router.routes:
        if route.method in CHANGING:
            path = route.path_formats[0]
            yield route, path.format(**ids) if "door" in route.opt else _filled(path)


def kind_of(route: Route, path: str) -> str:
    """Return how a route reads: those of one kind do it in the same way."""
    way = route.opt.get("door") or ("form" if path.startswith("/ui") else "")
    return way or ("declared" if "body" in route.opt else route.fn.__module__)


async def walk_routes(api: LiveApi, http: AsyncClient, ids: Mapping[str, str], most: int) -> Walk:
    """Send all to each route; if `most` is small, to one of each kind, and one document."""
    await http.post("/v1/batches", json={"jobs": [{}]})
    documents, seen, is_small = documents_of(api), set[str](), most < SIZES[0]
    async with Walk(http) as walk:
        for route, path in routes_of(api, ids):
            kind, name = kind_of(route, path), f"{route.method} {path}"
            if is_small and (kind in seen or route.method == "DELETE"):
                continue
            seen.add(kind)
            size = await walk.size_of(route.method, path, most)
            sound = doors_.BODIES.get(route.fn.__name__)
            known_ = documents.get(name, []) if sound is None else [sound]
            wider = islice(wide(known_, size), 3 if is_small else None)
            for sent in chain(general(size), wider) if size else ():
                await walk.send(route.method, path, sent)
    return walk


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_no_body_holds_up_others(
    api: LiveApi, http: AsyncClient, known: Mapping[str, str]
) -> None:
    """One route of each kind, and bodies that are just large enough to be worked on apart."""
    assert (await walk_routes(api, http, known, 192 << 10)).wrong == []


@pytest.mark.heavy
@pytest.mark.timeout(7200)
async def test_no_body_of_any_route_holds_up_others(
    api: LiveApi, http: AsyncClient, known: Mapping[str, str]
) -> None:
    assert (await walk_routes(api, http, known, SIZES[0])).wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [192 << 10, pytest.param(SIZES[0], marks=pytest.mark.heavy)])
async def test_no_frame_of_a_worker_holds_up_others(outside: Outside, size: int) -> None:
    """Each call of the link with lists and texts where there should be something else."""
    token = (await outside.token()).read_text()
    bearer = {"authorization": f"Bearer {token}"}
    async with Walk(outside.http) as walk:
        for sent in general(size):
            if sent.media == MSGPACK:
                await walk.send("POST", "/v1/worker-link", sent, **bearer)
        for call in islice(CALLS, 3) if size < SIZES[0] else CALLS:
            inner = msgpack_list([b"\x90"] * min(N, size // 2), size // 3)
            arguments = {"incarnation_id": 1, "reports": msgspec.Raw(inner)}
            body = msgspec.msgpack.encode([FRAME_VERSION, 1, call, arguments])
            await walk.send("POST", "/v1/worker-link", Sent(call, MSGPACK, body), **bearer)
    assert walk.wrong == []
