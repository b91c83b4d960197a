"""The port `log_store`: the output of attempts, written by runners and read by the api.

Positions count the *pieces* of an attempt (`wire/log_format.py`) from 0; `after` pieces are
skipped.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from weft.core.log_location import LogLocation
from weft.wire.log_format import Piece


@dataclass(frozen=True)
class AttemptLog:
    """The output of one attempt, as the database describes it."""

    batch_id: int
    job_id: int
    attempt: int
    ended: bool
    location: LogLocation | None
    """None: the log store finds it by the attempt."""
    stdout_bytes: int
    stderr_bytes: int
    truncated: bool
    state: str
    """The job's state now."""
    reason: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    message: str | None = None


class LogStore(Protocol):
    """Where the output of attempts is."""

    def pieces(self, log: AttemptLog, after: int) -> Iterator[Piece]:
        """Yield what is stored now, in the order of reading, without the first `after` pieces."""

    def size(self, log: AttemptLog, stream: int) -> int:
        """Return how many bytes of one stream are stored now."""

    def read(self, log: AttemptLog, stream: int, start: int, stop: int) -> bytes:
        """Return bytes of one stream; fewer if it ends before `stop`."""

    def follow(self, log: AttemptLog, after: int) -> AsyncIterator[Piece]:
        """Yield pieces as they come, until the iterator is closed."""

    def results(self, logs: Iterable[AttemptLog]) -> Iterator[tuple[AttemptLog, Iterator[bytes]]]:
        """Yield for each log the blocks of what its function returned (`wire/function.py`); no
        block: there is nothing. They must be read before the next log is asked for.
        """
