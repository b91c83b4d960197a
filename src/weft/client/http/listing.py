"""Lists of the api, read page by page as they are asked for."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Self

from weft.client.answer import Answer

# Documents have many fields of several types and may grow: they stay mappings.
Document = Mapping[str, Any]


class Listing:
    """The documents of a list, in its order. A page is read when the one before is used up."""

    def __init__(self, read_page: Callable[[str | None], Awaitable[Document]]) -> None:
        self._read_page = read_page
        self._cursor: str | None = None
        self._is_last = False
        self._page: Sequence[Answer] = ()
        self._used = 0
        self.warnings: Sequence[str] = ()
        """What the server says of a query that found nothing: keys that nothing has."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Answer:
        while self._used == len(self._page):
            if self._is_last:
                raise StopAsyncIteration
            await self._turn()
        self._used += 1
        return self._page[self._used - 1]

    async def next_page(self) -> Sequence[Answer]:
        """Return the rest of this page, or the next one; it is empty only at the end."""
        while self._used == len(self._page) and not self._is_last:
            await self._turn()
        rest, self._used = self._page[self._used :], len(self._page)
        return rest

    async def _turn(self) -> None:
        page = await self._read_page(self._cursor)
        self._page, self._used = [*map(Answer, page["items"])], 0
        self._cursor = page.get("cursor")
        self.warnings = page.get("warnings", ())
        self._is_last = self._cursor is None
