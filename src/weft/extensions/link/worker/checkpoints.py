"""Checkpoints by the link; see the port `CheckpointCarrier`."""

import asyncio
from typing import Final

from weft.core.attempt_key import AttemptKey
from weft.extensions.link.worker.calls import LinkCaller
from weft.ports.checkpoints import CheckpointFound
from weft.ports.file_store import HeldFile
from weft.ports.worker_link import LOG_BYTES_MAX

_PIECE_BYTES: Final = LOG_BYTES_MAX // 2


class LinkedCheckpoints:
    """The api keeps them, beside the output."""

    def __init__(self, caller: LinkCaller) -> None:
        self._caller = caller

    async def keep(self, key: AttemptKey, held: HeldFile) -> None:
        """Send it in pieces; the last one makes it the job's."""
        found, at = CheckpointFound(key.attempt, held.n_bytes, held.digest), 0
        while at < held.n_bytes:
            data = await asyncio.to_thread(held.read, at, _PIECE_BYTES)
            at = await self._caller.call(
                "write_checkpoint", self._caller.incarnation_id, key, at, data, found
            )

    async def find(self, key: AttemptKey) -> CheckpointFound | None:
        """Ask the api."""
        found: CheckpointFound | None = await self._caller.call(
            "find_checkpoint", self._caller.incarnation_id, key
        )
        return found

    async def read(self, key: AttemptKey, offset: int) -> bytes:
        """Get a part."""
        data: bytes = await self._caller.call(
            "read_checkpoint", self._caller.incarnation_id, key, offset
        )
        return data
