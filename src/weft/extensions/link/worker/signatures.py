"""Signatures of functions by the link: the api has the keys, and the worker none."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from weft.extensions.link.worker.calls import LinkCaller
from weft.ports.function_signatures import ChunkKey, Refused, SignedBy
from weft.wire.spec import JobSpec, have_functions

_REMEMBERED_MAX: Final = 10_000


class LinkedSignatures:
    """See the port `FunctionSignatures`. Chunks that were found good are remembered by their
    bytes.
    """

    def __init__(self, caller: LinkCaller, *, required: bool = True) -> None:
        self._caller = caller
        self._required = required
        self._good: set[tuple[ChunkKey, SignedBy]] = set()

    def signer_of(self, body: bytes, specs: Sequence[JobSpec]) -> SignedBy | None:
        """Return what the link is asked about."""
        return hashlib.sha256(body).digest() if self._required and have_functions(specs) else None

    async def refused(self, found: Mapping[ChunkKey, SignedBy]) -> Mapping[ChunkKey, Refused]:
        """Ask the api, once for each chunk."""
        asked = [one for one in found.items() if one not in self._good]
        if not asked:
            return {}
        verdicts: Sequence[Refused | None] = await self._caller.call(
            "check_functions", self._caller.incarnation_id, asked
        )
        if len(self._good) > _REMEMBERED_MAX:
            self._good.clear()
        refused = {}
        for one, verdict in zip(asked, verdicts, strict=True):
            if verdict is None:
                self._good.add(one)
            else:
                refused[one[0]] = verdict
        return refused
