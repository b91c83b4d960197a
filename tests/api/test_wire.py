"""Bytes on a real connection: too many, too slow, or no HTTP at all."""

import asyncio
import json
import re
import resource
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import uvloop

from api.fakes import TOKEN, RecordingStore, SilentNotices
from api.live import TOKEN as LIVE_TOKEN
from api.live import LiveApi
from api.test_tls import serving
from cases import cases
from weft.api.app import Application, create_app
from weft.api.http.protocol import HEADERS_MAX, PIPELINE_MAX
from weft.ports.store import Caller
from weft.settings import Settings

HEAD = f"authorization: Bearer {TOKEN}\r\nhost: weft\r\ncontent-type: application/json\r\n"


@pytest.fixture
async def port(app: Application) -> AsyncIterator[int]:
    """Give the port of a real server on the recording store."""
    async with serving(app) as address:
        yield int(address.partition(":")[2])


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    async with asyncio.timeout(60):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
        return int(head.split()[1]), json.loads(await reader.readexactly(length))


def memory_peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def test_body_of_100_mb_is_refused_early_in_flat_memory(
    port: int, store: RecordingStore
) -> None:
    """The answer comes before the body has gone, and a sender that reads late still gets it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"POST /v1/batches HTTP/1.1\r\n{HEAD}content-length: 100000000\r\n\r\n".encode())

    status, problem = await read_answer(reader)
    before = memory_peak_bytes()
    block = b" " * 100_000
    for _ in range(1000):
        writer.write(block)
        await writer.drain()
    writer.close()

    assert (status, problem["code"]) == (413, "API.TOO_LARGE")
    assert memory_peak_bytes() - before < 8 << 20
    assert store.created == []


async def test_body_without_a_length_is_refused_at_the_limit(
    port: int, store: RecordingStore
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /v1/batches HTTP/1.1\r\n{HEAD}transfer-encoding: chunked\r\n\r\n"
    writer.write(head.encode())
    for _ in range(40):
        writer.write(b"80000\r\n" + b" " * 0x80000 + b"\r\n")
        await writer.drain()
    writer.write(b"0\r\n\r\n")

    status, problem = await read_answer(reader)

    writer.close()
    assert (status, problem["code"]) == (413, "API.TOO_LARGE")
    assert store.created == []


async def test_strangers_that_keep_many_connections_leave_room_for_callers(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is idle longest makes room; only where all have a request under way, none is left."""
    monkeypatch.setattr("weft.run.api.CONNECTIONS_MAX", 3)
    half = f"POST /v1/batches HTTP/1.1\r\n{HEAD}expect: 100-continue\r\ncontent-length: 2\r\n\r\n"
    async with serving(app) as place, asyncio.timeout(60):
        host, port = place.split(":")
        callers = [await asyncio.open_connection(host, int(port)) for _ in range(3)]
        for reader, writer in callers[:2]:
            writer.write(half.encode())
            await reader.readuntil(b"100 Continue\r\n\r\n")
        strangers = [await asyncio.open_connection(host, int(port)) for _ in range(9)]
        for reader, _ in (callers[2], *strangers[:-1]):
            assert await reader.read() == b""
        callers[2][1].close()
        callers[2] = await asyncio.open_connection(host, int(port))
        callers[2][1].write(half.encode())
        await callers[2][0].readuntil(b"100 Continue\r\n\r\n")
        refused = await asyncio.open_connection(host, int(port))
        status, problem = await read_answer(refused[0])
        for reader, writer in callers:
            writer.write(b"{}")
            assert (await read_answer(reader))[0] == 201
        for _, writer in (*callers, *strangers, refused):
            writer.close()

    assert (status, problem["code"]) == (503, "API.UNAVAILABLE")


HOST, TOKEN_LINE = "host: weft\r\n", f"authorization: Bearer {TOKEN}\r\n"
ATTACK_HEAD = f"{HOST}{TOKEN_LINE}content-type: application/json\r\n"
CLOSE = "connection: close\r\n"
LAST = f"{ATTACK_HEAD}{CLOSE}"
NEXT = f"GET /v1/batches/1 HTTP/1.1\r\n{LAST}\r\n"
"""What must not be taken for a request of its own."""
DEADLINE_S = 60


def post(headers: str, body: str = "") -> str:
    return f"POST /v1/batches HTTP/1.1\r\n{ATTACK_HEAD}{headers}\r\n{body}"


def chunked(body: str) -> str:
    return post("transfer-encoding: chunked\r\n", body)


def get(target: str = "/v1/batches/1", headers: str = "") -> str:
    return f"GET {target} HTTP/1.1\r\n{LAST}{headers}\r\n"


def stranger(text: str) -> str:
    return text.replace(TOKEN_LINE, "")


ATTACKS: dict[str, tuple[str, list[int]]] = {
    # where does a body end?
    "length and chunks": (
        post("content-length: 4\r\ntransfer-encoding: chunked\r\n", f"0\r\n\r\n{NEXT}"),
        [400],
    ),
    "chunks and length": (
        post("transfer-encoding: chunked\r\ncontent-length: 4\r\n", f"0\r\n\r\n{NEXT}"),
        [400],
    ),
    "two lengths": (post("content-length: 2\r\ncontent-length: 40\r\n", f"{{}}{NEXT}"), [400]),
    "the same length twice": (
        post("content-length: 2\r\ncontent-length: 2\r\n", f"{{}}{NEXT}"),
        [400],
    ),
    "a list of lengths": (post("content-length: 2, 2\r\n", f"{{}}{NEXT}"), [400]),
    "a length with a sign": (post("content-length: +2\r\n", f"{{}}{NEXT}"), [400]),
    "a negative length": (post("content-length: -2\r\n", f"{{}}{NEXT}"), [400]),
    "a length of 10^22": (post(f"content-length: 1{'0' * 22}\r\n", f"{{}}{NEXT}"), [400]),
    "an unknown coding": (post("transfer-encoding: xchunked\r\n", f"0\r\n\r\n{NEXT}"), [400]),
    "chunks that are not last": (
        post("transfer-encoding: chunked, identity\r\n", f"0\r\n\r\n{NEXT}"),
        [400],
    ),
    "codings twice": (
        post("transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n", f"0\r\n\r\n{NEXT}"),
        [400],
    ),
    "a space before the colon": (
        post("transfer-encoding : chunked\r\n", f"0\r\n\r\n{NEXT}"),
        [400],
    ),
    "a folded coding": (post("transfer-encoding:\r\n chunked\r\n", f"0\r\n\r\n{NEXT}"), [400]),
    "a chunk size below 0": (chunked(f"-1\r\n{{}}\r\n0\r\n\r\n{NEXT}"), [400]),
    "a chunk size 0x2": (chunked(f"0x2\r\n{{}}\r\n0\r\n\r\n{NEXT}"), [400]),
    "a chunk size of 17 digits": (chunked(f"{'f' * 17}\r\n{{}}\r\n0\r\n\r\n{NEXT}"), [400]),
    "a chunk size before a bare LF": (chunked(f"2\n{{}}\r\n0\r\n\r\n{NEXT}"), [400]),
    "a chunk longer than it says": (chunked(f"2\r\n{{}}{NEXT}"), [400]),
    # what is a header?
    "a folded header": (get(headers="x-a: b\r\n c: d\r\n"), [400]),
    "NUL in a value": (get(headers="x-a: b\0c\r\n"), [400]),
    "a bare CR in a value": (get(headers="x-a: b\rc: d\r\n"), [400]),
    "a bare LF in a value": (get(headers="x-a: b\nc: d\r\n"), [400]),
    "a space in a name": (get(headers="x a: b\r\n"), [400]),
    "bare LFs": (get().replace("\r\n", "\n"), [400]),
    "a long header": (get(headers=f"x-a: {'b' * 70_000}\r\n"), [431]),
    "long headers": (get(headers=f"x-a: {'b' * 8000}\r\n" * 9), [431]),
    "many headers": (get(headers="a: b\r\n" * HEADERS_MAX), [431]),
    "two tokens": (get(headers=TOKEN_LINE), [400]),
    "two hosts": (get(headers="host: other\r\n"), [400]),
    "two lists of cookies": (get(headers="cookie: a=b\r\ncookie: c=d\r\n"), [400]),
    "no host": (f"GET /healthz HTTP/1.1\r\n{TOKEN_LINE}\r\n", [400]),
    "another host": (get().replace("host: weft", "host: evil.example"), [200]),
    "a head without an end": (
        "GET / HTTP/1.1\r\n" + "".join(f"x-{n}: {'y' * 1000}\r\n" for n in range(70)),
        [431],
    ),
    # what is a request?
    "TLS": ("\x16\x03\x01 hello\r\n\r\n", [400]),
    "a method alone": ("GET\r\n\r\n", [400]),
    "NUL in a line": ("\r\n\0\r\n\r\n", [400]),
    "HTTP/0.9": ("GET /healthz\r\n\r\n", [400]),
    "HTTP/1.0": (f"GET /v1/batches/1 HTTP/1.0\r\n{TOKEN_LINE}\r\n", [200]),
    "HTTP/1.9": (get().replace("HTTP/1.1", "HTTP/1.9"), [400]),
    "HTTP/2.0": (get().replace("HTTP/1.1", "HTTP/2.0"), [400]),
    "the preface of HTTP/2": ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400]),
    "many that wait for answers": (get().replace(CLOSE, "") * (PIPELINE_MAX + 2), [400]),
    "an unknown method": (get().replace("GET", "STEAL"), [400]),
    "a method in small letters": (get().replace("GET", "get"), [400]),
    "CONNECT": (get("evil.example:80").replace("GET", "CONNECT"), [400]),
    "a target with another host": (get("http://evil.example/v1/batches/1"), [400]),
    "a target with another port": (get("http://weft:81/v1/batches/1"), [400]),
    "a target with another host after a user": (get("http://weft@evil/v1/batches/1"), [400]),
    "a target with a user": (get("http://evil@weft/v1/batches/1"), [400]),
    "a target with a host and no Host": (
        get("http://evil/v1/batches/1").replace(HOST, "").replace("HTTP/1.1", "HTTP/1.0"),
        [400],
    ),
    "a target with a host that ends in a question": (get("http://evil?/weft/"), [400]),
    "a target that is a host": (get("http://evil.example"), [400]),
    "a long target": (get(f"/{'a' * 70_000}"), [431]),
    "NUL in a target": (get("/v1/\0"), [400]),
    "bytes above 127 in a target": (get("/v1/ÿ"), [400]),
    "a space in a target": (get("/v1/batches/1 /x"), [400]),
    "encoded CRLF in a target": (get("/v1/%0d%0aset-cookie:%20a=b"), [404]),
    # what comes after a refusal?
    "refused without a body": (stranger(get().replace(CLOSE, "")) + NEXT, [401, 200]),
    "refused with a small body": (
        stranger(post("content-length: 2\r\n", "{}")) + NEXT,
        [401, 200],
    ),
    "refused with a large body": (
        stranger(post("content-length: 70000\r\n", "{" * 70_000)) + NEXT,
        [401],
    ),
    "refused with chunks": (stranger(chunked("2\r\n{}\r\n0\r\n\r\n")) + NEXT, [401]),
    "refused before the body": (
        stranger(post("content-length: 2\r\nexpect: 100-continue\r\n", "{}")) + NEXT,
        [401],
    ),
    "a token after the body": (  # a proxy in front may not have looked at it
        stranger(chunked(f"2\r\n{{}}\r\n0\r\n{TOKEN_LINE}\r\n")),
        [401],
    ),
    # sound ones, so that this is not all refused
    "sound": (get(), [200]),
    "a target with the same host": (get("http://WEFT:80/v1/batches/1"), [200]),
    "a target that holds an address": (get("/v1/batches/1?a=http://evil/"), [400]),
    "two in one piece": (get().replace(CLOSE, "") + NEXT, [200, 200]),
    "sound chunks": (chunked(f"2;a=b\r\n{{}}\r\n0\r\n\r\n{NEXT}"), [201, 200]),
}


@pytest.fixture
async def address(store: RecordingStore, tmp_path: Path) -> AsyncIterator[tuple[str, int]]:
    """Give the address of a real server on the recording store, which does not wait for long."""
    settings = Settings(home=tmp_path, head_timeout_s=0.3, body_timeout_s=0.3)
    app = create_app(store, SilentNotices(), None, settings)  # type: ignore[arg-type]  # doubles
    async with serving(app) as place:
        host, _, port = place.partition(":")
        yield host, int(port)


async def said(address: tuple[str, int], *pieces: str) -> str:
    """Send pieces, each after an answer to the one before; return all that is said until the
    server ends the connection.
    """
    reader, writer = await asyncio.open_connection(*address)
    text = b""
    async with asyncio.timeout(DEADLINE_S):
        for number, piece in enumerate(pieces):
            writer.write(piece.encode("latin-1"))
            if number < len(pieces) - 1:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", head.lower())
                assert length is not None
                text += head + await reader.readexactly(int(length[1]))
        text += await reader.read(-1)
    writer.close()
    return text.decode("latin-1")


def statuses(text: str) -> list[int]:
    return [int(one) for one in re.findall(r"HTTP/1\.1 (\d{3}) ", text)]


async def test_each_attack_has_its_status(address: tuple[str, int]) -> None:
    found = {name: await said(address, text) for name, (text, _) in ATTACKS.items()}

    expected = {name: expected for name, (_, expected) in ATTACKS.items()}
    assert {name: statuses(text) for name, text in found.items()} == expected
    for name in ("TLS", "a method alone", "NUL in a line", "many that wait for answers"):
        assert "API.MALFORMED_REQUEST" in found[name]
    for text in found.values():
        assert "\r\nset-cookie" not in text
        assert ("API.HEAD_TOO_LARGE" in text) is ("HTTP/1.1 431" in text)


def test_nothing_is_written_for_who_is_cut_off(
    app: Application,
    store: RecordingStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The first of several requests, too, hears that nobody reads its answer."""

    async def attack() -> None:
        known, ready = asyncio.Event(), store.authenticate

        async def authenticate(token: str) -> Caller | None:
            await known.wait()
            return await ready(token)

        monkeypatch.setattr(store, "authenticate", authenticate)
        async with serving(app) as place:
            address = "127.0.0.1", int(place.partition(":")[2])
            text = await said(address, get().replace(CLOSE, "") * 2 + "GET\r\n\r\n")
            known.set()
            assert [*statuses(text), *statuses(await said(address, get()))] == [400, 200]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(attack())
    assert "Exception in ASGI" not in caplog.text


SLOW = {
    "no head": ([""], [408]),
    "half a head": (["GET /v1/batches/1 HTTP/1.1\r\nhost: w"], [408]),
    "half a head after a request": ([get().replace(CLOSE, ""), "GET /"], [200, 408]),
    "half a body": ([post("content-length: 10\r\n", "{")], [408]),
    "half a chunk": ([chunked("5\r\n{")], [408]),
    "a body that nobody reads": (
        [get(headers="content-length: 9\r\n").replace(CLOSE, ""), "x"],
        [200],
    ),
    "empty lines": ([get().replace(CLOSE, ""), "\r\n"], [200]),
    "an upgrade": (
        [get(headers="connection: upgrade\r\nupgrade: h2c\r\n").replace(CLOSE, ""), "x"],
        [200, 400],
    ),
}


@pytest.mark.heavy
@cases("name", SLOW)
async def test_who_goes_silent_is_cut_off(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Silence between two requests has a limit of its own, which is longer than this test."""
    monkeypatch.setattr("weft.api.http.middleware.DRAIN_S", 0.1)
    pieces, expected = SLOW[name]

    text = await said(address, *pieces)

    assert statuses(text) == expected
    assert ("API.REQUEST_TIMEOUT" in text) is (408 in expected)


PATHS: dict[str, set[int]] = {
    "/v1/batches/%2e%2e/jobs/1/log": {400},
    "/v1/batches/{b}/../../../secret.txt": {404},
    "/v1/batches/{b}/jobs/1/log/%2e%2e/%2e%2e/secret.txt": {404},
    "/v1/batches/{b}/jobs/..%2f..%2fsecret.txt/log": {400},
    "/v1/batches/{b}/jobs/%2e%2e%2f%2e%2e%2fsecret.txt/log": {400},
    "/v1/batches/{b}/jobs/..%5c..%5csecret.txt/log": {400},
    "/v1/batches/{b}/jobs/1/log%00": {404},
    "/v1/batches/{b}/jobs/1/log?stream=../../secret.txt": {400},
    "/v1/batches/{b}/jobs/1/log?attempt=../../secret.txt": {400},
    "/v1/batches/{b}/jobs/1/log?attempt=1%2f..%2f..": {400},
    "//v1/batches/{b}": {200},
    "/v1//batches/{b}": {200},
    "/v1/batches//{b}": {200},
    "/v1/batches/{b}//jobs/1/log": {404},
    "/v1/./batches/{b}": {404},
    "/v1/x/../batches/{b}": {404},
    "/%2e%2e/secret.txt": {404},
    "/..%2fsecret.txt": {404},
    "/secret.txt": {404},
    "/v1/batches/{b}/groups/%2f..%2f..": {400, 404},
    "/v1/batches/{b}/groups/%2fa%00": {400, 404},
    "/v1/batches/%c0%ae%c0%ae/jobs": {400},
    "/v1/batches/%u002e/jobs": {400},
    "/v1/batches/{b};x=1": {400},
    "/v1/pools/..%2f..%2fsecret.txt/log": {400, 404},
    "/v1/workers/%2e%2e": {400, 404},
}


async def test_no_path_leads_out_of_its_place(
    api: LiveApi, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("canary")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "secret.txt").write_text("canary")
    b = (await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})).json()["id"]
    wrong = {}
    head = f"{HOST}connection: close\r\n"
    token = f"authorization: Bearer {LIVE_TOKEN}\r\n"
    for path, expected in PATHS.items():
        target = path.replace("{b}", str(b))
        text = await said(("127.0.0.1", api.port), f"GET {target} HTTP/1.1\r\n{head}{token}\r\n")
        stranger = await said(("127.0.0.1", api.port), f"GET {target} HTTP/1.1\r\n{head}\r\n")
        is_expected = set(statuses(text)) <= expected and statuses(stranger) == [401]
        if not is_expected or "canary" in text:
            wrong[path] = text

    assert wrong == {}
