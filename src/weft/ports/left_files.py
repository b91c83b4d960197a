"""The port `left_files`: what brings home the files that attempts of workers outside have left."""

from typing import NamedTuple, Protocol

from weft.core.bounds import Count, Digest
from weft.core.states import AttemptKey
from weft.ports.file_store import HeldFile


class LeftFile(NamedTuple):
    """A file that weft keeps itself, by its content."""

    n_bytes: Count
    digest: Digest
    """SHA-256."""


class FileCarrier(Protocol):
    """Brings files to where the server reads them."""

    async def keep(self, key: AttemptKey, held: HeldFile) -> None:
        """Return when the file is there. Raise `FileRefused`, `StoreAway`, after which a repeat
        goes on; `FileDiffers`.
        """
