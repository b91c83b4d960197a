"""The calls of the api about files of jobs."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from weft.ports.store.callers import Caller, Row


class StoredFile(NamedTuple):
    """A file that an attempt has left."""

    attempt: int
    n_bytes: int
    digest: bytes
    address: str | None
    """Where it is kept; None: weft keeps it itself."""
    folder: str
    """Which folder of a home has the files of this database."""
    why_gone: str | None
    """Why it was removed, in one sentence; None: it was not."""


class JobFileStore(Protocol):
    """The files of jobs that a caller sees."""

    async def list_files(
        self,
        caller: Caller,
        batch_id: int,
        job_id: int,
        *,
        attempt: int | None,
        after: str | None,
        limit: int,
    ) -> Sequence[Row]:
        """Return documents of the files that an attempt has left, by path, after one of them;
        without an attempt, of the last one that left any. Raise `BatchNotFound`, `JobNotFound`.
        """

    async def find_file(
        self, caller: Caller, batch_id: int, job_id: int, path: str, *, attempt: int | None
    ) -> StoredFile | None:
        """Return a file that an attempt has left; without an attempt, of the last one that left
        it. None: there is none. Raise `BatchNotFound`, `JobNotFound`.
        """
