"""The port `log_store`: the output of attempts, read while they run and afterwards.

Positions count the *pieces* of an attempt (`wire/log_format.py`) from 0; `after` pieces are
skipped. Reads are of files of this host: quick, but not instant, so an event loop calls them in
a thread.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Protocol

from weft.ports.store import LogPlace
from weft.wire.log_format import Piece


class LogStore(Protocol):
    """Where the output of attempts is."""

    def pieces(self, place: LogPlace, after: int) -> Iterator[Piece]:
        """Yield what is stored now, in the order of reading, without the first `after` pieces."""

    def size(self, place: LogPlace, stream: int) -> int:
        """Return how many bytes of one stream are stored now."""

    def read(self, place: LogPlace, stream: int, start: int, stop: int) -> bytes:
        """Return bytes of one stream; fewer if it ends before `stop`."""

    def follow(self, place: LogPlace, after: int) -> AsyncIterator[Piece]:
        """Yield pieces as they come, until the iterator is closed."""

    def results(self, places: Iterable[LogPlace]) -> Iterator[tuple[LogPlace, Iterator[bytes]]]:
        """Yield for each place the blocks of what its function returned (`wire/function.py`); no
        block: there is nothing. They are to be read before the next place is asked for.
        """
