"""A file system of the siege's own, on which a file leaves less than weft keeps free."""

import os
import shutil
from pathlib import Path
from typing import Final

from weft.core.errors import Invalid

LEFT_BYTES = 160 << 20
"""For PostgreSQL, which shares the disk and ends when it is full."""
SIZE_MIN_BYTES = 1 << 30
STEP_BYTES: Final = 64 << 20
"""Less than what is left, so that others who write meanwhile find room, and the next step, too."""


class Disk:
    """Where the siege's directory is."""

    SETTINGS: Final = dict.fromkeys(
        ("WEFT_WORKER_FREE_BYTES_MIN", "WEFT_SPOOL_FREE_BYTES_MIN"), str(256 << 20)
    )
    """With less a worker starts no job and an api takes no output of one outside."""

    def __init__(self, directory: Path) -> None:
        if not directory.is_mount() or shutil.disk_usage(directory).free < SIZE_MIN_BYTES:
            raise Invalid(
                f"{directory} is no file system of its own with a GiB of room",
                detail="A siege fills it, and must fill nobody else's.",
                hint="As root: mount -t tmpfs -o size=4g tmpfs DIRECTORY",
            )
        self.directory = directory
        self._ballast = directory / "weft-siege.fill"

    def fill(self) -> bool:
        """Leave less than the reserve; False: there was no more."""
        if self._ballast.exists() or self._room() <= 0:
            return False
        size = 0
        with self._ballast.open("wb") as file:
            while (room := self._room()) > 0:
                step = min(room, STEP_BYTES)
                os.posix_fallocate(file.fileno(), size, step)
                size += step
        return True

    def _room(self) -> int:
        return shutil.disk_usage(self.directory).free - LEFT_BYTES

    def empty(self) -> None:
        """Give the room back."""
        self._ballast.unlink(missing_ok=True)
