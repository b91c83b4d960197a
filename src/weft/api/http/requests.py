"""Read requests: the body within limits, the document in it, and who sends it."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

import msgspec

from weft.api.http.apart import Found, Given, apart
from weft.api.http.decoding import JSON, Document, decode, media_of
from weft.api.http.routing import Request
from weft.core.access.token_text import stored_key
from weft.core.bounded import read_json, read_msgpack
from weft.core.errors import InvalidParameter, MalformedBody, RequestTimeout, TooLarge
from weft.core.problems import pointing
from weft.ports.store import Origin
from weft.settings import Settings
from weft.wire.documents.batches import BatchDocument

AnyRequest = Request
STRANGER_BYTES_MAX: Final = 64 << 10
"""Of a body whose sender is not known."""
KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True)
class Body:
    """A body as it came."""

    data: bytes
    media: str
    digest: bytes
    """Of method, path and body: what an Idempotency-Key stands for."""

    async def document(self, request: AnyRequest, kind: type[Document]) -> Document:
        """Decode it; an empty body is the empty document."""
        data = self.data or (b"{}" if self.media.endswith("json") else b"\x80")
        return await body_apart(request, data, decode, data, self.media, kind)


async def read_document(request: AnyRequest, kind: type[Document]) -> Document:
    """Read the body as a document. Raise what `read_body` and `decode` raise."""
    return await (await read_body(request)).document(request, kind)


async def read_text(request: AnyRequest, limit: int) -> str:
    """Read the body as UTF-8, whatever its media type: at most `limit` bytes. Raise
    `MalformedBody` if it is not, and as `read_bytes` does.
    """
    data = await read_bytes(request, limit)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise MalformedBody(
            "the body is not UTF-8",
            detail=f"Byte {error.start} is 0x{data[error.start]:02x}.",
            hint="Send text in UTF-8.",
        ) from error


def query_pairs(request: AnyRequest) -> list[tuple[str, str]]:
    """Return the query's parameters, in order, as doors read them. Raise `InvalidParameter`."""
    text, why = request.scope["query_string"].decode("latin-1"), "It holds a NUL character."
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=64, errors="strict")
        if not any("\0" in one for pair in pairs for one in pair):
            return pairs
    except ValueError as error:
        why = f"{error}."
    raise InvalidParameter(
        "the query of the address cannot be read", detail=why, hint="Send pairs in UTF-8."
    )


async def read_submission(
    request: AnyRequest, kind: type[Document], *parameters: str | None
) -> tuple[Document, Origin]:
    """Read a document and the origin of a request whose repeat must be recognised.

    `parameters`: those of the query that say what is asked, if there are any.
    """
    body = await read_body(request)
    return await body.document(request, kind), _origin_of(request, body, *parameters)


def _origin_of(request: AnyRequest, body: Body, *parameters: str | None) -> Origin:
    # An edit may be repeated anyway, unless its route says something else.
    is_edit = request.method == "PATCH" and not request.route.opt.get("headers")
    key = None if is_edit else idempotency_key(request)
    digest = body.digest
    if parameters:
        digest = hashlib.sha256(repr((digest, *parameters)).encode()).digest()
    return Origin(digest=digest, trace_id=request.trace_id, key=key)


def foreign_origin(
    request: AnyRequest, digest: bytes, key: str | None = None, *, foreign_id: str | None = None
) -> Origin:
    """Return the origin of a request through the door whose route this is. `key`: as sent.
    `foreign_id`: by which the door's clients know a new batch; None: by its number.
    """
    door: str = request.route.opt["door"]
    return Origin(
        digest=digest,
        trace_id=request.trace_id,
        key=None if key is None else stored_key(door, key),
        door=door,
        foreign_trace=request.scope["state"].get("foreign_trace"),
        foreign_id=foreign_id,
    )


@dataclass(frozen=True)
class Nested:
    """A batch document within another document: what it says, and as JSON."""

    document: BatchDocument
    body: bytes


async def read_nested(
    request: AnyRequest, kind: type[Document], field: str
) -> tuple[Document, Nested, Origin]:
    """Read a document with a batch document in one of its fields; see `read_submission`."""
    body = await read_body(request)
    document = await body.document(request, kind)

    def nested() -> Nested:
        if body.media == JSON:
            part = bytes(read_json(body.data, dict[str, msgspec.Raw])[field])
        else:
            part = msgspec.json.encode(read_msgpack(body.data)[field])
        with pointing(lambda pointer: f"/{field}{pointer}"):
            return Nested(decode(part, JSON, BatchDocument), part)

    return document, await body_apart(request, body.data, nested), _origin_of(request, body)


async def body_apart(
    request: AnyRequest,
    data: bytes,
    function: Callable[Given, Found],
    *args: Given.args,
    **kwargs: Given.kwargs,
) -> Found:
    """Return what a function makes of a body, in a thread if it is large (`apart`)."""
    caller = request.scope["state"].get("caller")
    return await apart(len(data), caller, function, *args, **kwargs)


async def read_body(request: AnyRequest) -> Body:
    """Read the body. Raise `TooLarge` as soon as it is, `RequestTimeout` if it comes too late."""
    media = media_of(request.headers.get("content-type"), is_patch=request.method == "PATCH")
    data = await read_bytes(request)
    head = f"{request.method} {request.scope['path']}\n".encode()
    digest = await body_apart(request, data, lambda: hashlib.sha256(head + data).digest())
    return Body(data, media, digest)


async def read_bytes(request: AnyRequest, limit: int | None = None) -> bytes:
    """Read the body as it is, whatever its media type: at most `limit` bytes, or those of a
    request; of strangers few. Raise `TooLarge`, `RequestTimeout`.
    """
    settings = request.services.settings
    limit = settings.bunch_bytes_max if limit is None else limit
    hint = "Create an update and send bunches (bunch_bytes_max); large data belongs in files."
    if "caller" not in request.scope["state"] and limit > STRANGER_BYTES_MAX:
        limit, hint = STRANGER_BYTES_MAX, "Log in first: whoever is not known yet sends no more."
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise InvalidParameter(
            "compressed bodies are not supported",
            detail="The Content-Encoding header names a compression.",
            hint="Send the body uncompressed; msgpack is smaller than JSON.",
        )
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > len(str(limit)) or int(declared) > limit):
        raise _too_large(f"It has {declared[:20]} bytes", limit, hint)
    data = bytearray()  # a list of chunks of a byte each would be fifty times as large
    async with in_time(settings, "Send smaller bunches."):
        async for chunk in body_of(request):
            if len(data) + len(chunk) > limit:
                raise _too_large(f"It has more than {limit} bytes", limit, hint)
            data += chunk
    return bytes(data)


@asynccontextmanager
async def in_time(settings: Settings, hint: str) -> AsyncIterator[None]:
    """Raise `RequestTimeout` if a body takes too long."""
    try:
        async with asyncio.timeout(settings.body_timeout_s):
            yield
    except TimeoutError as error:
        raise RequestTimeout(
            "the body did not arrive in time",
            detail=f"It took longer than {settings.body_timeout_s:g} s.",
            hint=hint,
        ) from error


async def body_of(request: AnyRequest) -> AsyncIterator[bytes]:
    """Yield the body as it comes. Raise `MalformedBody` if its sender leaves before its end."""
    goes_on = True
    while goes_on:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise MalformedBody(
                "the connection was closed before the body had come whole", hint="Send it again."
            )
        yield message.get("body", b"")
        goes_on = message.get("more_body", False)


def _too_large(fact: str, limit: int, hint: str) -> TooLarge:
    detail = f"{fact}; the limit is {limit}."
    return TooLarge("the body is too large", detail=detail, hint=hint)


def idempotency_key(request: AnyRequest) -> str | None:
    """Return the header `Idempotency-Key`. Raise `InvalidParameter` for what is not a key."""
    key = request.headers.get("idempotency-key")
    if key is not None and not KEY.fullmatch(key):
        raise InvalidParameter(
            "the Idempotency-Key header is malformed",
            detail="A key has 1 to 200 printable ASCII characters and no spaces.",
            hint="Use a random name such as a UUID.",
        )
    return key
