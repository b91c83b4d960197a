"""The port between attempts and stores of objects: URLs that open one object each, for a while.

Whoever has the credentials signs; whoever has a URL transfers, and needs none. So a worker outside
never has them, and no job does.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Literal, NamedTuple, Protocol

from weft.core.attempt_key import AttemptKey
from weft.ports.file_store import HeldFile

Method = Literal["GET", "PUT", "DELETE"]


class ToSign(NamedTuple):
    """What an attempt is to do with one object."""

    method: Method
    store: str
    path: str


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


class UrlReader(Protocol):
    """The one who fetches what web servers have."""

    def read(self, url: str) -> AsyncIterator[bytes]:
        """Yield the bytes in pieces of at most some MiB. Raise `FileMissing`, `FileRefused`,
        `FileDiffers`, `StoreAway`.
        """


class ObjectCarrier(Protocol):
    """Who transfers. All raise `FileMissing`, `FileRefused`, `StoreAway`."""

    def read(self, url: str) -> AsyncIterator[bytes]:
        """Yield the bytes of an object, in pieces of at most some MiB. Raise `FileDiffers` if it
        was changed meanwhile.
        """

    async def write(self, url: str, file: HeldFile) -> None:
        """Store an object, which appears whole or not at all. Raise `FileDiffers` if the file has
        not these bytes.
        """
