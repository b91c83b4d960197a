"""What every source of production lines must do: a suite that an author of one subclasses."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from weft.ports.source import (
    ITEM_BYTES_MAX,
    KEY_CHARS_MAX,
    Item,
    Reading,
    Source,
    SourceFailed,
    SourceSite,
)

READINGS_MAX: Final = 20
"""After which a source that others do not fill has nothing more."""


class SourceReader:
    """Reads as a driver does: it hands back the cursor of what it has kept, as JSON."""

    def __init__(
        self,
        source: Source,
        options: Mapping[str, Any],
        site: SourceSite,
        cursor: Any = None,  # noqa: ANN401 (JSON)
    ) -> None:
        self.source, self.options, self.site = source, {**options}, site
        self.cursor = cursor

    def read(self) -> Reading:
        """Read once, and keep the items."""
        reading = self.source.read(self.options, self.cursor, self.site)
        if reading.cursor is not None:
            self.cursor = msgspec.to_builtins(reading.cursor)
        return reading

    def keys(self) -> list[str]:
        """Read once; return the keys."""
        return [item.key for item in self.read().items]

    def rest(self) -> Sequence[Item]:
        """Read until there is nothing more."""
        items: list[Item] = []
        for _ in range(READINGS_MAX):
            reading = self.read()
            assert len(reading.items) <= self.site.items_max
            items += reading.items
            if not reading.more:
                return items
        raise AssertionError(f"there is more after {READINGS_MAX} readings")


class SourceSuite:
    """Tests of the port `source`, on one that has several items and gets no further ones."""

    def reader(self) -> SourceReader:
        """Return who reads it from the beginning, with an object as a new process has."""
        raise NotImplementedError

    def wrong_options(self) -> Mapping[str, Mapping[str, Any]]:
        """Return options with which it cannot be read, by a part of why."""
        raise NotImplementedError

    async def test_items_are_as_lines_need_them(self) -> None:
        """Each has a key of its own, and fields that fit into a variable, or says why not."""
        items = await asyncio.to_thread(self.reader().rest)
        assert len({item.key for item in items}) == len(items) > 1
        for item in items:
            assert 0 < len(item.key) <= KEY_CHARS_MAX
            assert item.fields is not None or item.error
            assert len(json.dumps(item.fields).encode()) <= ITEM_BYTES_MAX

    async def test_what_was_not_kept_comes_again(self) -> None:
        """The cursor of what was kept is all that counts."""
        reader = self.reader()
        before = reader.cursor
        keys = await asyncio.to_thread(reader.keys)
        reader.cursor = before
        assert keys
        assert sorted(await asyncio.to_thread(reader.keys)) == sorted(keys)

    async def test_what_was_kept_comes_no_more_or_is_the_same(self) -> None:
        """Also for a process that knows nothing but the cursor."""
        reader, later = self.reader(), self.reader()
        kept = {item.key: item for item in await asyncio.to_thread(reader.rest)}
        later.cursor = reader.cursor
        again = await asyncio.to_thread(later.rest)
        assert [item for item in again if item != kept.get(item.key)] == []

    async def test_whatever_is_wrong_is_a_failure(self) -> None:
        """It says why, for who looks after the source."""
        for why, options in self.wrong_options().items():
            reader = self.reader()
            reader.options |= options
            try:
                await asyncio.to_thread(reader.read)
            except SourceFailed as error:
                assert why in str(error)  # noqa: PT017 (it is no test of pytest alone)
            else:
                raise AssertionError(f"it was read, though {why}")
