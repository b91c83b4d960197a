"""The port `file_store`: where files of jobs come from, and where they are kept; and the one
between attempts and such stores: URLs that open one object each, for a while.

All paths are relative, without `.` and `..` (`core/files/file_paths.py`). Whatever can be repeated
with hope raises `StoreAway`; the others say that a repeat would find the same.

Whoever has the credentials signs; whoever has a URL transfers, and needs none. So a worker outside
never has them, and no job does.
"""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from weft.core.bounds import Name, Number, PathText
from weft.core.states import AttemptKey


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


class NotResumable(StoreAway):
    """What follows does not go with what has come: the file is to be read from its beginning."""


class Overtaken(StoreAway):
    """Another write came first, or a removal."""


class FileFacts(NamedTuple):
    """What a store knows of a file without reading it."""

    n_bytes: int


class HeldFile(NamedTuple):
    """An open file of this host."""

    fd: int
    n_bytes: int
    digest: bytes
    """SHA-256 of all its bytes."""
    check: Callable[[], None] = lambda: None
    """Raises `StoreAway` while it must not appear; a store asks right before that step, too."""

    def read(self, offset: int, n_bytes: int) -> bytes:
        """Return a part, in a thread: it may wait for a disk. Raise as `check`."""
        self.check()
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


Method = Literal["GET", "HEAD", "PUT", "DELETE", "POST"]
ONE_REQUEST_BYTES_MAX: Final = 5 << 30
"""S3 takes no more in one request."""


class ToSign(NamedTuple):
    """What an attempt is to do with one object."""

    method: Method
    store: Name
    path: PathText
    upload: PathText = ""
    """Of an object that is stored in parts: PUT a part, GET the list of those behind one, POST its
    end, DELETE what arrived. POST without it begins one.
    """
    part: Number = 0

    @property
    def is_read(self) -> bool:
        """Whether it reads an object."""
        return self.method == "GET" and not self.upload


class PartUrls(Protocol):
    """Signs for one object that is stored in parts. Raises `FileRefused`, `StoreAway`."""

    async def __call__(self, method: Method, upload: str = "", part: int = 0) -> str:
        """Return a URL; see `ToSign`."""


class Signed(NamedTuple):
    """A URL that does that and no more, or why there is none."""

    url: str
    problem: str = ""
    is_away: bool = False
    """It may work later."""


class UrlSigner(Protocol):
    """The one who asks for URLs."""

    async def sign(
        self, incarnation_id: int, key: AttemptKey, wanted: Sequence[ToSign]
    ) -> Sequence[Signed]:
        """Return a URL for each object that a live attempt of this worker is to get or leave."""


@dataclass
class Head:
    """What a server says of a file before its first byte; who reads it fills it in."""

    known: str = ""
    """A version that need not come again, of what was at `found_at`."""
    found_at: str = ""
    """Where it was found, after redirections."""
    version: str = ""
    """What names these bytes; empty: nothing does, or they are not to be kept."""
    n_bytes: int | None = None
    is_known: bool = False
    """It still has the version `known`: no byte comes."""


class UrlReader(Protocol):
    """The one who fetches what web servers have."""

    def read(self, url: str, head: Head | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes in pieces of at most some MiB. Raise `FileMissing`, `FileRefused`,
        `StoreAway`; `NotResumable` if it was changed meanwhile.
        """


class ObjectCarrier(Protocol):
    """Who transfers. All raise `FileMissing`, `FileRefused`, `StoreAway`."""

    def read(self, url: str, start: int = 0, head: Head | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes of an object from `start` on, in pieces of at most some MiB. Raise
        `NotResumable` if it was changed meanwhile.
        """

    async def write_once(self, sign: PartUrls, file: HeldFile) -> None:
        """Store an object in one request, which appears whole or not at all; bytes that are late
        replace nothing that came since. Raise `FileDiffers` if the file has not these bytes.
        """

    async def write_parts(
        self,
        sign: PartUrls,
        file: HeldFile,
        *,
        part_bytes: int,
        upload: str,
        begun: Callable[[str], None],
    ) -> None:
        """Store an object in parts of `part_bytes`, which likewise appears whole or not at all.
        `upload`: one that was begun; empty: begin one and tell it. After `StoreAway` it may go on.
        """
