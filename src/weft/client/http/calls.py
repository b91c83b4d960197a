"""Requests to the api that carry and return documents, and lists of the api, read page by page as
they are asked for.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partialmethod
from typing import Any, Generic, Self, TypeVar, cast
from urllib.parse import quote

import msgspec

from weft.client.answer import Answer
from weft.client.http.session import HttpSession, Query
from weft.core.bounded import ENVELOPE_DEPTH_MAX, Unreadable, read_json
from weft.core.errors import BadId, Invalid, Unavailable

# Documents have many fields of several types and may grow: they stay mappings.
Document = Mapping[str, Any]


AnswerT_co = TypeVar("AnswerT_co", bound=Answer, covariant=True)


class Listing(Generic[AnswerT_co]):
    """The documents of a list, in its order. A page is read when the one before is used up."""

    def __init__(self, read_page: Callable[[str | None], Awaitable[Document]]) -> None:
        self._read_page = read_page
        self._cursor: str | None = None
        self._is_last = False
        self._page: Sequence[AnswerT_co] = ()
        self._used = 0
        self.warnings: Sequence[str] = ()
        """What the server says of a query that found nothing: keys that nothing has."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AnswerT_co:
        while self._used == len(self._page):
            if self._is_last:
                raise StopAsyncIteration
            await self._turn()
        self._used += 1
        return self._page[self._used - 1]

    async def next_page(self) -> Sequence[AnswerT_co]:
        """Return the rest of this page, or the next one; it is empty only at the end."""
        while self._used == len(self._page) and not self._is_last:
            await self._turn()
        rest, self._used = self._page[self._used :], len(self._page)
        return rest

    async def _turn(self) -> None:
        page = await self._read_page(self._cursor)
        self._page, self._used = cast("Sequence[AnswerT_co]", [*map(Answer, page["items"])]), 0
        self._cursor = page.get("cursor")
        self.warnings = page.get("warnings", ())
        self._is_last = self._cursor is None


PAGE_ROWS = 1000
MSGPACK = "application/msgpack"


def decode(answer: bytes | str) -> Any:  # noqa: ANN401 (any JSON)
    """Return what the server says. Raise `Unavailable` for what no server of weft says."""
    try:
        return read_json(answer, depth_max=ENVELOPE_DEPTH_MAX)
    except Unreadable as error:
        hint = "Correct its address (WEFT_URL), or what stands before it."
        raise Unavailable("what answers is not weft", detail=f"{error}.", hint=hint) from error


def segment(name: str, kind: str) -> str:
    """Return a name as a part of a path. Raise `BadId` for none: the path would be another."""
    if not name:
        raise BadId(name, expected=f"a {kind} has a name")
    return quote(name, safe="")


def without_none(document: Document) -> Document:
    """Return a document without what is None."""
    return {key: value for key, value in document.items() if value is not None}


def without_unset(document: Document) -> Document:
    """Return a document without what is not given; None is."""
    return {key: value for key, value in document.items() if value is not msgspec.UNSET}


class DocumentCalls:
    """Calls that carry and answer documents."""

    _session: HttpSession

    async def _ask(
        self,
        method: str,
        path: str,
        document: Document | None = None,
        *,
        query: Query | None = None,
        key: str | None = None,
    ) -> Answer:
        body = None if document is None else encode(document, msgspec.json.encode)
        answer = await self._session.request(method, path, query=query, body=body, key=key)
        return Answer(decode(answer))

    _put = partialmethod(_ask, "PUT")
    _patch = partialmethod(_ask, "PATCH")

    async def _get(self, path: str, query: Query | None = None) -> Answer:
        return await self._ask("GET", path, query=query)

    async def _delete(
        self, path: str, query: Query | None = None, *, key: str | None = None
    ) -> Answer:
        return await self._ask("DELETE", path, query=query, key=key)

    async def _remove(self, path: str, query: Query | None = None) -> None:
        await self._session.request("DELETE", path, query=query, is_removal=True)

    async def _post(
        self,
        path: str,
        document: Any,  # noqa: ANN401 (anything that msgspec encodes)
        *,
        query: Query | None = None,
        key: str | None = None,
    ) -> Answer:
        answer = await self._session.request(
            "POST",
            path,
            query=query,
            body=encode(document, msgspec.msgpack.encode),
            content_type=MSGPACK,
            key=key,
        )
        return Answer(decode(answer) if answer else {})

    async def _items(self, path: str, query: Query | None = None) -> list[Any]:
        return [*map(Answer, (await self._get(path, query))["items"])]

    def _list(
        self, path: str, query: Mapping[str, Any], *, page_rows: int = PAGE_ROWS
    ) -> Listing[Any]:
        async def read_page(cursor: str | None) -> Answer:
            return await self._get(path, {"limit": page_rows, **query, "cursor": cursor})

        return Listing(read_page)


class Requests(DocumentCalls):
    """Calls of an object that has connections of its own."""

    def __init__(self, session: HttpSession) -> None:
        self._session = session

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        self._session.close()

    @property
    def url(self) -> str:
        """Return the address of the server."""
        return self._session.endpoint.url

    @property
    def is_of_this_host(self) -> bool:
        """Return whether the server is reached without a network."""
        return self._session.endpoint.is_of_this_host


def encode(document: object, encoder: Callable[..., bytes]) -> bytes:
    """Return a document as it is sent. Raise `Invalid` for what no document can hold."""
    with suppress(OverflowError, UnicodeEncodeError):  # they hold the document, perhaps a secret
        return encoder(document, enc_hook=_plain)
    raise Invalid(
        "a value cannot be sent",
        detail="A number has more than 64 bits, or a text is not valid Unicode.",
        hint="Give the number as a float or a text, and other bytes in base64.",
    )


def _plain(value: object) -> object:
    """Return what stands for a value of a subclass of `int`, such as the id of a batch."""
    if isinstance(value, int):
        return int(value)
    raise NotImplementedError(f"a document has no values such as {value!r}")


def group_segment(group: int | str) -> str:
    """Return what names a group in a path: its number, its path or a set's name. Raise `BadId` for
    an empty text.
    """
    text = str(group)
    if not text:  # the address would be that of the list of groups
        raise BadId(text, expected="a group has a number, a path or a name")
    # A name holds no slash, so this is a path.
    return quote(f"/{text}" if "/" in text and text[0] != "/" else text, safe="")
