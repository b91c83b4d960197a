"""The port `file_store`: where files of jobs come from, and where they are kept.

All paths are relative, without `.` and `..` (`core/files/file_paths.py`). Whatever can be repeated
with hope raises `StoreAway`; the others say that a repeat would find the same.
"""

import os
from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol


class FileProblem(Exception):
    """What is wrong with a file, in a few words for the owner of the job."""


class FileMissing(FileProblem):
    """There is no such file."""


class FileRefused(FileProblem):
    """The store may not be asked for it, or does not give it."""


class FileDiffers(FileProblem):
    """It is not what it was said to be: it was changed, or its checksum is another one."""


class StoreAway(FileProblem):
    """The store does not answer now."""


class FileFacts(NamedTuple):
    """What a store knows of a file without reading it."""

    n_bytes: int


class HeldFile(NamedTuple):
    """An open file of this host."""

    fd: int
    n_bytes: int
    digest: bytes
    """SHA-256 of all its bytes."""

    def read(self, offset: int, n_bytes: int) -> bytes:
        """Return a part, in a thread: it may wait for a disk."""
        return os.pread(self.fd, min(n_bytes, self.n_bytes - offset), offset)


class FileReader(Protocol):
    """One store, to read."""

    async def facts(self, path: str) -> FileFacts:
        """Return what is known of a file. Raise `FileMissing`, `FileRefused`, `StoreAway`."""

    def read(self, path: str, offset: int = 0) -> AsyncIterator[bytes]:
        """Yield the bytes of a file from `offset` on, in pieces of at most some MiB. Raises the
        same as `facts`, and `FileDiffers` if it was changed meanwhile.
        """


class FileStore(FileReader, Protocol):
    """One store."""

    async def write(self, path: str, file: HeldFile) -> None:
        """Keep a file, in place of one with the same path. It appears whole or not at all, also
        if this process is killed; a repeat is harmless. Raise `FileDiffers` if it has not these
        bytes, `FileRefused`, `StoreAway`, `OSError` for a full disk.
        """

    async def remove(self, path: str) -> None:
        """Remove a file, or all below a directory; nothing if there is none."""
