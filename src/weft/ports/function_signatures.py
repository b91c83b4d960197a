"""Whether the api has signed the functions of jobs for the owner of their batch (ADR 60): checked
where the keys are, which is here or behind the link.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.core.bounds import LongNumber, Number
from weft.core.states import Reason
from weft.wire.signed import Signer
from weft.wire.spec import JobSpec

ChunkKey = tuple[LongNumber, Number]
"""Batch and first job of a chunk."""


@dataclass(frozen=True)
class Refused:
    """Why the functions of a chunk are not called."""

    reason: Reason
    message: str


SignedBy = Signer | bytes | Refused
"""For whom a chunk was signed; its SHA-256, if another machine knows."""


class FunctionSignatures(Protocol):
    """What checks signatures."""

    def signer_of(self, body: bytes, specs: Sequence[JobSpec]) -> SignedBy | None:
        """Return for whom a chunk was signed, or why its functions are not called; None: it has
        no functions, or they need no signature here.
        """

    async def refused(self, found: Mapping[ChunkKey, SignedBy]) -> Mapping[ChunkKey, Refused]:
        """Return which of these chunks were not signed for the owner of their batch."""
