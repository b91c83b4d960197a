"""The port `running_files`: what the directories of running attempts have at the moment."""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Final, NamedTuple, Protocol

from msgspec import Meta

from weft.core.bounds import LongNumber, PathText
from weft.core.states import AttemptKey

SECONDS_MAX: Final = 253_402_300_799
"""The end of the year 9999: later dates cannot be written."""


class RunningFile(NamedTuple):
    """A plain file of a running attempt, when it was looked at."""

    path: PathText
    n_bytes: LongNumber
    changed_s: Annotated[float, Meta(ge=0, le=SECONDS_MAX)]
    """Seconds since 1970, at most `SECONDS_MAX`."""


class RunningAttempt(NamedTuple):
    """An attempt that runs, and the name of its worker."""

    key: AttemptKey
    worker: str


class RunningFiles(Protocol):
    """Whatever of it can be seen from here; of other attempts there is nothing. What asks a worker
    may raise `FileElsewhere`.
    """

    async def listed(self, of: RunningAttempt) -> Sequence[RunningFile]:
        """Return the files by path, without those of its application that are as they were."""

    async def find(self, of: RunningAttempt, path: str) -> RunningFile | None:
        """Return one of them; None: there is none."""

    def read(self, of: RunningAttempt, path: str, start: int, stop: int) -> AsyncIterator[bytes]:
        """Yield its bytes from `start` to `stop`, or fewer if it is shorter meanwhile."""
