"""Notices that wake waiting programs."""

from collections.abc import AsyncIterator
from typing import Protocol


class Notices(Protocol):
    """LISTEN on one connection.

    Losing it raises `Unavailable` in the iterator; the caller listens again and looks once.
    """

    def listen(self, *channels: str) -> AsyncIterator[tuple[str, str]]:
        """Yield (channel, payload). The first item is ("", "") when listening has begun."""
