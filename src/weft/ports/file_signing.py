"""The port between attempts and stores of objects: URLs that open one object each, for a while.

Whoever has the credentials signs; whoever has a URL transfers, and needs none. So a worker outside
never has them, and no job does.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from weft.core.attempt_key import AttemptKey
from weft.core.bounds import Name, Number, PathText
from weft.ports.file_store import HeldFile

Method = Literal["GET", "PUT", "DELETE", "POST"]
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
        """Return a URL for each, for objects that a live attempt of this worker is to get or to
        leave.
        """


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
        `FileDiffers`, `StoreAway`.
        """


class ObjectCarrier(Protocol):
    """Who transfers. All raise `FileMissing`, `FileRefused`, `StoreAway`."""

    def read(self, url: str, start: int = 0, head: Head | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes of an object from `start` on, in pieces of at most some MiB. Raise
        `FileDiffers` if it was changed meanwhile.
        """

    async def write(self, url: str, file: HeldFile) -> None:
        """Store an object, which appears whole or not at all. Raise `FileDiffers` if the file has
        not these bytes.
        """

    async def write_parts(
        self, sign: PartUrls, file: HeldFile, *, part_bytes: int, upload: str,
        begun: Callable[[str], None],
    ) -> None:  # fmt: skip
        """Store an object in parts of `part_bytes`, which likewise appears whole or not at all.
        `upload`: one that was begun; empty: begin one and tell it. After `StoreAway` it may go on.
        """
