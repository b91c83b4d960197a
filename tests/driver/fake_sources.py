"""What the store of the driver's tests answers about sources: there are none."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.ports.store.sources import DueSource


class FakeSources:
    """A part of `FakeDriverStore`."""

    async def _ask(self, function: str, epoch: int | None = None) -> None:
        raise NotImplementedError

    async def sources_due(self, epoch: int, busy: Sequence[int]) -> float | None:
        assert not busy
        await self._ask("sources_due", epoch)
        return None

    async def due_sources(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueSource]:
        assert limit > len(busy)
        await self._ask("due_sources", epoch)
        return []

    async def store_items(
        self,
        epoch: int,
        source: DueSource,
        found: Sequence[Mapping[str, Any]],
        **_: object,
    ) -> int | None:
        assert source.name
        await self._ask("store_items", epoch)
        return len(found)
