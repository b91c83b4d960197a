"""Reading of requests: bodies within limits, headers and queries with known names only."""

import asyncio
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast
from urllib.parse import parse_qsl

from weft.api.http.decoding import Document, decode, media_of
from weft.api.services import AnyRequest, services_of
from weft.core.errors import FieldError, InvalidParameter, RequestTimeout, TooLarge

BODY_S: Final = 60.0
"""A body that takes longer is not worth waiting for."""
_KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")
_DIGITS: Final = re.compile(r"-?[0-9]{1,18}")
QUERY_FIELDS_MAX: Final = 64


class ClientGone(Exception):
    """The client closed the connection before its request was complete."""


@dataclass(frozen=True)
class Body:
    """A body as it came."""

    data: bytes
    media: str
    digest: bytes
    """Of method, path and body: what an Idempotency-Key stands for."""

    def document(self, kind: type[Document]) -> Document:
        """Read it; an empty body is the empty document."""
        return decode(
            self.data or (b"{}" if self.media.endswith("json") else b"\x80"), self.media, kind
        )


async def read_body(request: AnyRequest) -> Body:
    """Read the body. Raise `TooLarge` as soon as it is known to be, `RequestTimeout` if it does
    not come.
    """
    limit = services_of(request).settings.bunch_bytes_max
    media = media_of(request.headers.get("content-type"), is_patch=request.method == "PATCH")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise InvalidParameter(
            "compressed bodies are not read",
            detail="The header Content-Encoding says so.",
            hint="Send the body as it is; msgpack is smaller than JSON.",
        )
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > len(str(limit)) or int(declared) > limit):
        raise _too_large(f"It has {declared[:20]} bytes", limit)
    try:
        async with asyncio.timeout(BODY_S):
            data = await _receive(request, limit)
    except TimeoutError as error:
        raise RequestTimeout(
            "the body did not arrive in time",
            detail=f"It took longer than {BODY_S:g} s.",
            hint="Send smaller bunches.",
        ) from error
    digest = hashlib.sha256(f"{request.method} {request.scope['path']}\n".encode() + data).digest()
    return Body(data, media, digest)


async def _receive(request: AnyRequest, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = cast("bytes", message.get("body", b""))
        size += len(chunk)
        if size > limit:
            raise _too_large(f"It has more than {limit} bytes", limit)
        chunks.append(chunk)
        if not message.get("more_body"):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _too_large(fact: str, limit: int) -> TooLarge:
    return TooLarge(
        "the body is too large",
        detail=f"{fact}; the limit is {limit}.",
        hint="Create an update and send the jobs in several bunches; large data belongs in files.",
    )


def idempotency_key(request: AnyRequest) -> str | None:
    """Return the header `Idempotency-Key`. Raise `InvalidParameter` for what is not a key."""
    key = request.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise InvalidParameter(
            "the header Idempotency-Key has not the form of one",
            detail="It has 1 to 200 printable ASCII characters without spaces.",
            hint="Use a random name such as a UUID.",
        )
    return key


class Query:
    """The query of a request: only `known` parameters, each at most once unless it is asked for
    with `many`.
    """

    def __init__(self, request: AnyRequest, known: Iterable[str]) -> None:
        text = request.scope["query_string"].decode("latin-1")
        try:
            pairs = parse_qsl(
                text, keep_blank_values=True, max_num_fields=QUERY_FIELDS_MAX, errors="strict"
            )
        except UnicodeDecodeError as error:
            raise wrong_parameter("", "what stands as %XX is not UTF-8") from error
        except ValueError as error:
            raise wrong_parameter("", f"more than {QUERY_FIELDS_MAX} parameters") from error
        self._values: dict[str, list[str]] = {}
        known = tuple(known)
        for name, value in pairs:
            if name not in known:
                listed = ", ".join(known) or "none"
                raise wrong_parameter(name, f"there is no such parameter; known: {listed}")
            if "\0" in value:
                raise wrong_parameter(name, "a value holds no NUL character")
            self._values.setdefault(name, []).append(value)

    def many(self, name: str) -> list[str]:
        """Return all values."""
        return self._values.get(name, [])

    def text(self, name: str) -> str | None:
        """Return the value."""
        values = self.many(name)
        if len(values) > 1:
            raise wrong_parameter(name, "it is given more than once")
        return values[0] if values else None

    def integer(self, name: str, *, default: int | None, least: int, most: int) -> int | None:
        """Return the value as a number within limits."""
        text = self.text(name)
        if text is None:
            return default
        if not _DIGITS.fullmatch(text) or not least <= int(text) <= most:
            raise wrong_parameter(name, f"{text[:40]!r} is not a number from {least} to {most}")
        return int(text)

    def flag(self, name: str) -> bool:
        """Return whether it is `true`."""
        text = self.text(name)
        if text not in {None, "true", "false"}:
            raise wrong_parameter(name, f"{(text or '')[:40]!r} is neither true nor false")
        return text == "true"

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of the choices, the first if it is not given."""
        text = self.text(name)
        if text is not None and text not in choices:
            raise wrong_parameter(name, f"{text[:40]!r} is none of {', '.join(choices)}")
        return text or choices[0]


def wrong_parameter(name: str, message: str) -> InvalidParameter:
    """Return the error for a parameter of the query."""
    shown = name[:80]
    return InvalidParameter(
        f"the parameter {shown!r} is wrong",
        detail=f"{message[:1].upper()}{message[1:]}.",
        hint="`/openapi.json` lists the parameters of every path.",
        errors=[FieldError(f"?{shown}", message)],
    )
