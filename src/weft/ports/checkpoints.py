"""The port `checkpoints`: what jobs of workers outside have put into their checkpoint's directory,
kept where the next attempt finds it.
"""

from typing import NamedTuple, Protocol

from weft.core.bounds import Count, Digest, ShortNumber
from weft.core.states import AttemptKey
from weft.ports.file_store import HeldFile


class CheckpointFound(NamedTuple):
    """A directory, packed."""

    attempt: ShortNumber
    """Which wrote it."""
    n_bytes: Count
    digest: Digest
    """SHA-256."""


class CheckpointCarrier(Protocol):
    """Carries packed directories away from this machine, and to it. Both methods raise
    `Unavailable`, after which they may be repeated, and what is refused.
    """

    async def keep(self, key: AttemptKey, held: HeldFile) -> None:
        """Keep this instead of what was kept of the job, whole or not at all."""

    async def find(self, key: AttemptKey) -> CheckpointFound | None:
        """Return what is kept of the job."""

    async def read(self, key: AttemptKey, offset: int) -> bytes:
        """Return a part of it, of at most some MiB; nothing: that is all."""
