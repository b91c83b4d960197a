"""Signing and carrying of objects, without a server of S3."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from cases import cases
from weft.core.addresses import AllowedHosts
from weft.core.files.file_paths import StoreFile
from weft.core.states import AttemptKey
from weft.net.exchange import Exchange
from weft.net.failures import Broken
from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.plugins.file_stores.s3.parts import ObjectHttpCarrier
from weft.plugins.file_stores.s3.signing import Credentials, ObjectUrls, StoreSigner, presigned
from weft.plugins.file_stores.s3.trial import S3Objects
from weft.ports.file_store import (
    FileDiffers,
    FileMissing,
    FileRefused,
    HeldFile,
    Method,
    StoreAway,
    ToSign,
)
from weft.ports.object_stores import Tried
from weft.ports.store import StoredFileStore
from weft.wire.documents.files import FileInput, FileOutput, names_object
from weft.wire.sealed import SecretKeys, SecretRow

KEYS, ROW, KEY = SecretKeys([bytes(32)]), SecretRow(1, 2, "key"), AttemptKey(1, 1, 1)
HERE = AllowedHosts(everything=True)
Serve = Callable[[str, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def stored(
    access: str = "write", credentials: str = "secret", value: str = "AK:SK"
) -> StoredFileStore:
    is_secret = credentials == "secret"
    body = KEYS.seal(value, ROW) if is_secret and value else None
    return StoredFileStore(
        "s3://bucket/pre",
        "https://s3.example.org",
        None,
        access,
        credentials,
        ROW if is_secret else None,
        body,
    )


class Stores:
    def __init__(self, store: StoredFileStore | None) -> None:
        self.store = store

    async def find_stores(
        self, incarnation_id: int, key: AttemptKey, names: list[str]
    ) -> list[StoredFileStore | None]:
        assert (incarnation_id, key) == (7, KEY)
        return [self.store for _ in names]


async def signed(store: StoredFileStore | None, method: str = "GET", buckets: str = "") -> str:
    """Return the URL, or why there is none."""
    signer = StoreSigner(lambda: Stores(store), lambda: KEYS, buckets)  # type: ignore[arg-type, return-value]  # a double
    (one,) = await signer.sign(7, KEY, [ToSign(method, "s", "a b/ü%.txt")])  # type: ignore[arg-type]  # of a test
    return one.problem or one.url


async def test_a_url_opens_one_object_and_shows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of the process has no part in it."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", "canary")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://canary")
    monkeypatch.setenv("AWS_ENDPOINT", "http://canary")
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")

    url = urlsplit(await signed(stored(value="AK:canary-secret\n")))

    assert (url.netloc, url.path) == ("s3.example.org", "/bucket/pre/a%20b/%C3%BC%25.txt")
    query = parse_qs(url.query)
    assert query["X-Amz-Credential"][0].startswith("AK/")
    assert query["X-Amz-Signature"]
    assert "canary" not in url.geturl()


async def test_parts_are_signed_as_objects_are() -> None:
    """Beside those of the library, which signs no parts."""
    theirs = parse_qs(urlsplit(await signed(stored(value="AK:SK:TOKEN/+="))).query)
    at = datetime.strptime(theirs["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    base, credentials = "https://s3.example.org/bucket", Credentials("AK", "SK", "TOKEN/+=")

    ours = presigned(
        "GET",
        base,
        "pre/a b/ü%.txt",
        {},
        region="us-east-1",
        credentials=credentials,
        at=at,
        valid_s=3600,
    )

    assert parse_qs(urlsplit(ours).query) == theirs
    store = replace(stored(), access="read")
    for step in (ToSign("POST", "s", "a"), ToSign("GET", "s", "a", "upload")):
        signer = StoreSigner(lambda: Stores(store), lambda: KEYS, "")  # type: ignore[arg-type, return-value]  # a double
        assert (await signer.sign(7, KEY, [step]))[0].problem == "nothing is written to store 's'"


async def test_what_is_not_signed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    assert await signed(None) == "there is no store 's'"
    assert await signed(stored("read"), "PUT") == "nothing is written to store 's'"
    assert "was removed" in await signed(stored(value=""))
    assert "not KEY_ID:SECRET_KEY" in await signed(stored(value="swordfish"))
    assert "store_buckets" in await signed(stored(credentials="env"), buckets="other")
    assert "Credential=ENV" in await signed(stored(credentials="env"), buckets="other, bucket")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert "has no credentials" in await signed(stored(credentials="env"), buckets="*")


def test_a_job_names_what_it_may_ask_for() -> None:
    inputs = (FileInput("store://s/in/a"), FileInput("store://s/in/b"))
    outputs = (
        FileOutput("x", "store://s/out/"),
        FileOutput("y", "store://s/one"),
        FileOutput("z", "store://s/maps/v${product.version}/"),
    )

    def may(path: str, *, is_read: bool, store: str = "s") -> bool:
        return names_object(inputs, outputs, is_read=is_read, file=StoreFile(store, path))

    assert may("in/a", is_read=True)
    assert may("out/deep/x", is_read=False)
    assert may("one", is_read=False)
    assert may("one/below", is_read=False)
    assert may("maps/v1/z", is_read=False)
    assert not may("maps/w", is_read=False)
    assert not may("maps/v1/../z", is_read=False)
    assert not may("in/c", is_read=True)
    assert not may("out/x", is_read=True)
    assert not may("in/a", is_read=False)
    assert not may("oneness", is_read=False)
    assert not may("in/a", is_read=True, store="t")
    for odd in ("out/../../x", "out/./x", "out//x", "out/", "one/..", "out/a\0"):
        assert not may(odd, is_read=False), odd


@asynccontextmanager
async def serving(serve: Serve) -> AsyncIterator[str]:
    """Give the URL of an object that is served so."""
    errors: list[Exception] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            await serve(head, reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        except Exception as error:  # noqa: BLE001 (told below)
            errors.append(error)
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/bucket/a?X-Amz-Signature=x"
    assert errors == []


def answering(status: str, body: bytes = b"", length: int | None = None, more: str = "") -> Serve:
    async def serve(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del head, reader
        size = len(body) if length is None else length
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\n{more}\r\n".encode() + body)
        await writer.drain()

    return serve


async def fetched(url: str, allowed: AllowedHosts = HERE) -> bytes:
    return b"".join([piece async for piece in HttpCarrier(allowed, 10).read(url)])


async def test_a_fetch_goes_on_where_its_connection_broke() -> None:
    data, heads = os.urandom(1 << 20), []

    async def serve(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(head)
        if len(heads) == 1:
            answer = answering("200 OK", data[:500_000], len(data), 'ETag: "1"\r\n')
        else:
            start = int(head.partition("bytes=")[2].partition("-")[0])
            rest = f"Content-Range: bytes {start}-{len(data) - 1}/{len(data)}\r\n"
            answer = answering("206 Partial Content", data[start:], more=f'ETag: "1"\r\n{rest}')
        await answer(head, reader, writer)

    async with serving(serve) as url:
        assert await fetched(url) == data
    assert 'If-Match: "1"' in heads[1]


@cases(
    ("status", "body", "kind", "words"),
    [
        ("404 Not Found", b"<Code>NoSuchKey</Code>", FileMissing, "no such object"),
        ("404 Not Found", b"<Code>NoSuchBucket</Code>", FileRefused, "NoSuchBucket"),
        ("403 Forbidden", b"<Code>AccessDenied</Code>", FileRefused, "AccessDenied"),
        ("403 Forbidden", b"<Code>RequestTimeTooSkewed</Code>", StoreAway, "Skewed"),
        ("412 Precondition Failed", b"", FileDiffers, "changed"),
        ("503 Slow Down", b"<Code>SlowDown</Code>", StoreAway, "SlowDown"),
        ("301 Moved", b"", FileRefused, "301"),
    ],
)
async def test_refusals_are_told_apart(
    status: str, body: bytes, kind: type[Exception], words: str
) -> None:
    async with serving(answering(status, body)) as url:
        with pytest.raises(kind, match=words) as told:
            await fetched(url)
    assert type(told.value) is kind


async def test_private_addresses_are_refused_and_silence_is_away() -> None:
    with pytest.raises(FileRefused, match="store_private_hosts"):
        await fetched("http://[::1]:9/bucket/a", AllowedHosts())
    with pytest.raises(StoreAway, match="does not answer"):
        await fetched("http://127.0.0.1:1/bucket/a")


def held(path: Path, data: bytes, digest: bytes | None = None) -> HeldFile:
    path.write_bytes(data)
    fd = os.open(path, os.O_RDONLY)
    return HeldFile(fd, len(data), digest or hashlib.sha256(data).digest())


@pytest.mark.parametrize("size", [0, 1, 1 << 20])
async def test_an_object_is_sent_whole_or_not_at_all(tmp_path: Path, size: int) -> None:
    """The last bytes of a file that was changed meanwhile are never sent."""
    data, bodies = os.urandom(size), []

    async def serve(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
        bodies.append(await reader.readexactly(length))
        await answering("200 OK")(head, reader, writer)

    good, bad = held(tmp_path / "a", data), held(tmp_path / "b", data, bytes(32))
    async with serving(serve) as url:
        await HttpCarrier(HERE, 10).write(url, good)
        if size:
            with pytest.raises(FileDiffers):
                await HttpCarrier(HERE, 10).write(url, bad)
    assert bodies == [data]
    os.close(good.fd)
    os.close(bad.fd)


@cases(
    ("head", "put", "sent"),
    [
        ("200 OK", "412 No", ["If-Match"] * 4 + [""]),  # many write it: one day it is written
        ("404 No", "412 No", ["If-None-Match"] * 4 + [""]),
        ("403 No", "412 No", ["If-None-Match", ""]),
        ("404 No", "501 No", ["If-None-Match", "", ""]),  # the second object needs no try
        ("404 No", "404 No<Code>NoSuchBucket</Code>", ["If-None-Match", "refused"]),
        ("200 OK", "404 No<Code>NoSuchKey</Code>", ["If-Match"] * 4 + [""]),
    ],
)
async def test_a_write_replaces_nothing_newer(
    tmp_path: Path, head: str, put: str, sent: list[str]
) -> None:
    """As far as the store knows conditions; what else is wrong is said at once."""
    found = []

    async def serve(text: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        status, _, code = (head if text.startswith("HEAD") else put).partition("<")
        if not text.startswith("HEAD"):
            found.append(next((n for n in ("If-None-Match", "If-Match") if n in text), ""))
            status = status if found[-1] else "200 OK"
        body = b"" if text.startswith("HEAD") or not code else b"<" + code.encode()
        await answering(status, body, more='ETag: "1"\r\n')(text, reader, writer)

    async def sign(method: Method, upload: str = "", part: int = 0) -> str:
        del method, upload, part
        return url

    file, carrier = held(tmp_path / "a", b""), HttpCarrier(HERE, 10)
    async with serving(serve) as url:
        try:
            for _ in range(1 + ("501" in put)):
                await carrier.write_once(sign, file)
        except FileRefused as refused:
            found.append("refused" if "NoSuchBucket" in str(refused) else str(refused))
    assert found == sent
    os.close(file.fd)


@pytest.mark.parametrize(
    ("in_parts", "refused"), [(False, "PUT"), (True, "PUT"), (True, "POST /bucket/a?u")]
)
async def test_a_refusal_while_it_is_sent_is_told(
    *, in_parts: bool, refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an object, a part, and the list of parts; then the connection breaks."""
    file, send = held(tmp_path / "a", b"data"), Exchange.send

    async def breaks(exchange: Exchange, piece: bytes) -> None:
        await send(exchange, piece)
        raise Broken(ConnectionResetError())

    async def serve(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = answering("200 OK", b"<UploadId>u</UploadId>", more='ETag: "x"\r\n')
        if head.startswith(refused):
            answer = answering("403 Forbidden", b"<Code>AccessDenied</Code>")
        await answer(head, reader, writer)

    async def sign(method: Method, upload: str = "", part: int = 0) -> str:
        del method
        return url.partition("?")[0] + (f"?part={part}" if part else f"?{upload}")

    monkeypatch.setattr(Exchange, "send", breaks)
    carrier = ObjectHttpCarrier(HERE, 10)
    async with serving(serve) as url:
        parts = partial(carrier.write_parts, sign, part_bytes=9, upload="", begun=set[str]().add)
        write = parts if in_parts else partial(carrier.write, url)
        with pytest.raises(FileRefused, match="AccessDenied"):
            await write(file)
    os.close(file.fd)


async def tried(store: StoredFileStore, *serves: Serve) -> list[Tried]:
    """Return what a trial says of a store whose server answers so, request by request."""
    left = iter(serves)

    async def serve(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await next(left)(head, reader, writer)

    async with serving(serve) as url:
        here = replace(store, endpoint=url.partition("/bucket")[0])
        return list(
            await S3Objects(ObjectUrls(lambda: KEYS, ""), HttpCarrier(HERE, 10)).attempt(here)
        )


@cases(
    ("status", "code", "words"),
    [
        ("404 Not Found", "NoSuchBucket", "the bucket bucket does not exist"),
        ("403 Forbidden", "AccessDenied", "the key may not write objects there"),
        ("403 Forbidden", "InvalidAccessKeyId", "the server does not know the key"),
        ("403 Forbidden", "SignatureDoesNotMatch", "the secret part of the key is wrong"),
        ("503 Slow Down", "SlowDown", "answers with SlowDown"),
    ],
)
async def test_a_trial_says_what_is_wrong(status: str, code: str, words: str) -> None:
    body = f"<Error><Code>{code}</Code></Error>".encode()

    (found,) = await tried(stored(), answering(status, body))

    assert found.step == "write"
    assert words in (found.problem or "")
    assert found.hint


async def test_a_trial_of_what_is_only_read_writes_nothing() -> None:
    missing = answering("404 Not Found", b"<Error><Code>NoSuchKey</Code></Error>")
    denied = answering("403 Forbidden", b"<Error><Code>AccessDenied</Code></Error>")

    assert await tried(stored("read"), missing) == [Tried("read")]
    (found,) = await tried(stored("read"), denied)
    assert "let it list" in (found.hint or "")
    (unsigned,) = await tried(stored("read", value="swordfish"))
    assert "not KEY_ID:SECRET_KEY" in (unsigned.problem or "")
