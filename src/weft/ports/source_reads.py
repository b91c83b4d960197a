"""The port between driver or api and what reads sources, away from their processes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec

from weft.ports.store.sources import DueSource

S3: Final = "s3"
"""The kind that reads a store of the tenant."""
BROKERS: Final[Mapping[str, tuple[str, str]]] = {
    "amqp": ("rabbitmq", "queue"), "kafka": ("kafka", "topic"),
}  # fmt: skip
"""The kinds that read from a broker: the kind of their transport, and what they name there."""


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
