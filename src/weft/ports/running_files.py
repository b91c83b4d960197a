"""The port `running_files`: what the directories of running attempts have at the moment."""

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from weft.core.attempt_key import AttemptKey


class RunningFile(NamedTuple):
    """A plain file of a running attempt, when it was looked at."""

    path: str
    n_bytes: int
    changed_s: float
    """Seconds since 1970."""


class RunningFiles(Protocol):
    """Whatever of it this host can see; of attempts elsewhere there is nothing."""

    async def listed(self, key: AttemptKey) -> Sequence[RunningFile]:
        """Return the files by path, without those of its application that are as they were."""

    async def find(self, key: AttemptKey, path: str) -> RunningFile | None:
        """Return one of them; None: there is none."""

    def read(self, key: AttemptKey, path: str, start: int, stop: int) -> AsyncIterator[bytes]:
        """Yield its bytes from `start` to `stop`, or fewer if it is shorter meanwhile."""
