"""Room on the disk for the files of jobs: one that would fill it waits, and says so."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from weft.core.text.amounts import size
from weft.ports.file_store import StoreAway

LEFT_BYTES: Final = 64 << 20
"""What stays free for output and all else."""

Promise = Callable[[int], Awaitable[None]]
"""Keeps room for a file of this number of bytes. Raises `NoRoom`."""


class NoRoom(StoreAway):
    """There is no room for a file now."""


class DiskRoom:
    """What is free below a directory, less what files that are being written will need."""

    def __init__(self, directory: Path, free_some: Callable[[], Awaitable[bool]]) -> None:
        """`free_some` removes what can be had again, and says whether there was any."""
        self._directory = directory
        self._free_some = free_some
        self._promised = 0

    @contextmanager
    def for_files(self) -> Iterator[Promise]:
        """Give what promises files their room until the end."""
        mine = 0

        async def promise(n_bytes: int) -> None:
            nonlocal mine
            while (free := await asyncio.to_thread(self._free)) < n_bytes + LEFT_BYTES:
                if not await self._free_some():
                    raise NoRoom(
                        f"it has {size(n_bytes)}, and the worker's disk has room for "
                        f"{size(max(0, free - LEFT_BYTES))}"
                    )
            mine += n_bytes
            self._promised += n_bytes

        try:
            yield promise
        finally:
            self._promised -= mine

    def _free(self) -> int:
        facts = os.statvfs(self._directory)
        return facts.f_bavail * facts.f_frsize - self._promised
