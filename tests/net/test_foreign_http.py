"""All who ask servers of others, against servers of all manners, on real sockets."""

import asyncio
import re
import socket
import time
from collections.abc import Awaitable, Callable
from threading import Event
from typing import Any

import pytest

from callbacks.receiver import Manner, answering, hang, receiving, saying
from tidy.source_files import product_files
from weft.api.web_tokens.fetching import fetch
from weft.core.addresses import parse_allowed_hosts
from weft.plugins.callback_senders.http.sender import HttpCallbackSender
from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.plugins.file_stores.s3.signing import InstanceRole
from weft.plugins.runners.remote.calls import HttpCalls, server_at
from weft.plugins.testers.connect import HttpTester
from weft.ports import tester
from weft.ports.source import SourceSite
from weft_lines.sources.http import HttpSource

WITHIN_S = 0.4
ALLOWED = parse_allowed_hosts("127.0.0.1")
Ask = Callable[[str], Awaitable[object]]


async def _sender(url: str) -> None:
    answered = await HttpCallbackSender(ALLOWED, 5, WITHIN_S).send(url, {}, b"{}")
    if answered.error is not None:
        raise ValueError(answered.error)


async def _carrier(url: str) -> None:
    await HttpCarrier(ALLOWED, WITHIN_S).size(url)


async def _source(url: str) -> None:
    site = SourceSite(allowed=ALLOWED, timeout_s=WITHIN_S)
    await asyncio.to_thread(HttpSource().read, {"url": url}, None, site)


async def _tester(url: str) -> None:
    site = tester.TesterSite(ALLOWED, timeout_s=WITHIN_S)
    await asyncio.to_thread(HttpTester().test, {"url": url}, site)


async def _engine(url: str) -> None:
    server = server_at("Ray", url, 1, None, WITHIN_S / 10, "")
    assert server is not None
    await HttpCalls(server).call("GET", "/hook", None, {})


async def _role(url: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_METADATA_ENDPOINT", url.partition("/hook")[0])
        patch.setattr("weft.plugins.file_stores.s3.signing.WITHIN_S", WITHIN_S)
        await asyncio.to_thread(InstanceRole().credentials)


USERS: dict[str, tuple[Ask, str, str, str]] = {
    "api/web_tokens/fetching.py": (
        lambda url: fetch(url, WITHIN_S),
        "took longer than 0.4 s",
        "closed connection",
        "",
    ),
    "weft_lines/sources/http.py": (_source, "no answer", "no answer", "is not HTTP"),
    "plugins/callback_senders/http/sender.py": (
        _sender,
        "no answer within 0.4 s",
        "the connection broke: the receiver closed",
        "not HTTP",
    ),
    "plugins/file_stores/s3/carrying.py": (_carrier, "is silent for 0.4 s", "broke", "broke off"),
    "plugins/file_stores/s3/signing.py": (_role, "timed out", "closed connection", ""),
    "plugins/runners/remote/calls.py": (
        _engine,
        "Ray is away: TimeoutError: timed out",
        "Ray is away: RemoteDisconnected",
        "Ray is away: ",
    ),
    "plugins/testers/connect.py": (_tester, "no answer", "no answer", "is not HTTP"),
}
"""How each asks; what it says of silence, of an end without an answer, and of what is not HTTP."""
CHECKED = [name for name in USERS if re.search("lines|callback|carrying|testers", name)]

SILENT, CLOSED, NOT_HTTP = 0, 1, 2
OK = b"HTTP/1.1 200 OK\r\n"
MANNERS: dict[str, tuple[Manner, set[int]]] = {
    "hangs": (hang, {SILENT}),
    "drips a status": (saying(b"H", pause_s=0.02, times=10_000), {SILENT, NOT_HTTP}),
    "stops in its head": (saying(OK), {CLOSED}),
    "closes without a word": (saying(b""), {CLOSED}),
    "speaks something else": (saying(b"220 smtp.example ready\r\n\r\n"), {NOT_HTTP}),
    "never ends its head": (saying(OK + b"x: " + b"y" * 200_000), {NOT_HTTP}),
    "has no end of headers": (saying(OK + b"x: y\r\n" * 40_000), {NOT_HTTP}),
    "hints for ever": (
        saying(b"HTTP/1.1 103 Hint\r\n\r\n", pause_s=0.001, times=1000),
        {NOT_HTTP},
    ),
}


async def failure_of(ask: Ask, url: str) -> str:
    """Return what is said, in a bounded time."""
    start = time.monotonic()
    (failure,) = await asyncio.gather(ask(url), return_exceptions=True)
    assert time.monotonic() - start < 10 * WITHIN_S
    assert isinstance(failure, Exception)
    return str(failure)


def test_each_user_is_walked() -> None:
    asking = re.compile(r"^from weft\.net\.foreign_http import .*\bForeignHttp\b", re.MULTILINE)
    found = {name for name, path in product_files().items() if asking.search(path.read_text())}

    assert found == set(USERS)


@pytest.mark.heavy
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("name", MANNERS)
async def test_server_without_manners_costs_a_bounded_time(name: str, user: str) -> None:
    manner, kinds = MANNERS[name]
    ask, *words = USERS[user]
    async with receiving(manner) as receiver:
        said = await failure_of(ask, receiver.url)

    assert any(words[kind] in said for kind in kinds), said


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("manner", ["drips", "chunks", "is huge"])
async def test_body_without_end_is_cut_off(
    manner: str, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not even read by those who only want the head."""
    sent, piece = 0, b"x" * 65536 if manner == "is huge" else b"1\r\n \r\n"
    length = b"transfer-encoding: chunked" if manner == "chunks" else b"content-length: 9999999999"

    async def pour(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(OK + length + b"\r\n\r\n")
        while True:
            await saying(piece, pause_s=0.0 if manner == "is huge" else 0.02)(writer)
            sent += 1

    monkeypatch.setattr("weft.plugins.runners.remote.calls._ANSWER_BYTES_MAX", 1 << 20)
    if manner == "is huge":  # what ends it is its size
        monkeypatch.setitem(globals(), "WITHIN_S", 20.0)
    async with receiving(pour) as receiver, asyncio.timeout(10 * WITHIN_S):
        (end,) = await asyncio.gather(USERS[user][0](receiver.url), return_exceptions=True)

    assert sent < 1000
    assert end is None or manner != "is huge" or "more than" in str(end)


@pytest.mark.parametrize("user", USERS)
async def test_resolver_that_is_silent_costs_a_bounded_time(
    user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_words, **_options: over.wait() and [])

    said = await failure_of(USERS[user][0], "http://silent.example/hook")
    over.set()

    assert USERS[user][1] in said or "cannot be resolved" in said


@pytest.mark.parametrize("user", USERS)
async def test_nobody_follows_a_redirection(user: str) -> None:
    """Files of the web do, which are asked for again, and checked again."""
    async with receiving() as other:
        async with receiving(answering(307, headers=f"location: {other.url}\r\n")) as receiver:
            await asyncio.gather(USERS[user][0](receiver.url), return_exceptions=True)
            assert len(receiver.received) == 1

        assert other.n_open_max == 0


@pytest.mark.parametrize("user", USERS)
async def test_name_is_resolved_once_and_its_address_is_the_one_that_is_called(
    user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that changes between check and connection gets nobody anywhere."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def rebinding(host: Any, *words: Any, **options: Any) -> Any:  # noqa: ANN401 (as the real one)
        if host != "rebind.example":
            return real(host, *words, **options)
        asked.append(host)
        return real("127.0.0.1" if len(asked) == 1 else "127.0.0.2", *words, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    async with receiving(answering(404)) as receiver:
        url = f"http://rebind.example:{receiver.port}/hook"
        await asyncio.gather(USERS[user][0](url), return_exceptions=True)
        assert len(asked) == len(receiver.received) == 1
        assert receiver.received[0].headers["host"] == f"rebind.example:{receiver.port}"
        if user in CHECKED:
            assert "private" in await failure_of(USERS[user][0], url)
        assert len(receiver.received) == 1


@pytest.mark.parametrize("user", CHECKED)
@pytest.mark.parametrize(
    "host", ["127.0.0.2", "localhost", "[::ffff:127.0.0.2]", "[64:ff9b::a00:1]"]
)
async def test_private_address_is_not_even_connected_to(host: str, user: str) -> None:
    with socket.create_server(("0.0.0.0", 0)) as listener:  # noqa: S104 (of the test alone)
        listener.settimeout(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(globals(), "ALLOWED", parse_allowed_hosts("10.9.9.9"))
            said = await failure_of(USERS[user][0], f"http://{host}:{listener.getsockname()[1]}/")
        with pytest.raises(BlockingIOError):
            listener.accept()

    assert "private_hosts does not allow it" in said
    assert "127.0.0." not in said.replace(host.strip("[]"), "")  # a fact about our network


@pytest.mark.parametrize("user", CHECKED)
@pytest.mark.parametrize("order", [("127.0.0.1", "127.0.0.2"), ("127.0.0.2", "127.0.0.1")])
async def test_of_a_name_with_good_and_private_addresses_only_the_good_are_called(
    user: str, order: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the private one stands, and although nobody answers at the good one."""
    real = socket.getaddrinfo

    def mixed(host: Any, *words: Any, **options: Any) -> Any:  # noqa: ANN401 (as the real one)
        if host != "mixed.example":
            return real(host, *words, **options)
        return [one for address in order for one in real(address, *words, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", mixed)
    with socket.create_server(("127.0.0.2", 0)) as private:
        private.settimeout(0)
        await failure_of(USERS[user][0], f"http://mixed.example:{private.getsockname()[1]}/hook")
        with pytest.raises(BlockingIOError):
            private.accept()
    async with receiving(answering(404)) as receiver:  # at 127.0.0.1, which ALLOWED names
        url = f"http://mixed.example:{receiver.port}/hook"
        await asyncio.gather(USERS[user][0](url), return_exceptions=True)
        assert len(receiver.received) == 1
