"""The port between driver or api and what reads sources, away from their processes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from weft.ports.store.sources import DueSource


class SourceRead(msgspec.Struct, frozen=True):
    """What a reading has brought."""

    found: Sequence[Mapping[str, Any]] = ()
    """`key`, `fields`, `error`; the oldest first."""
    cursor: Mapping[str, Any] | None = None
    more: bool = False
    """There is more to be read now."""
    error: str | None = None
    """Why it failed; None: it did not."""
    retry_after_s: float | None = None


class ReadsSources(Protocol):
    """The one who reads."""

    async def read(self, source: DueSource) -> SourceRead:
        """Read a source once. What is wrong with it is in the answer."""


@dataclass(frozen=True)
class SourceReader:
    """Reads sources, away from this process."""

    read: Callable[[DueSource], Awaitable[SourceRead]]
