"""The port between the api and what opens stores of objects."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from weft.ports.file_store import FileReader
from weft.ports.store import StoredFileStore


class Tried(NamedTuple):
    """One thing that was tried; a problem ends the trial."""

    step: str
    """`write`, `read` or `remove`."""
    problem: str | None = None
    hint: str | None = None


class ObjectStores(Protocol):
    """The one who has what opens them."""

    async def attempt(self, store: StoredFileStore) -> Sequence[Tried]:
        """Write, read and remove a small object below the prefix; in a store that is only read,
        ask for one that is not there.
        """

    def reader(self, store: StoredFileStore) -> FileReader:
        """Return what reads objects, by their paths below the prefix."""
