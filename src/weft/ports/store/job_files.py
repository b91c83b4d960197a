"""The calls of the api about files of jobs."""

from typing import NamedTuple


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
