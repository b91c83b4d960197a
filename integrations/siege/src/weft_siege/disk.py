"""A file system of the siege's own, on which a file leaves less than weft keeps free."""

import os
import shutil
from pathlib import Path
from typing import Final

from weft.core.errors import Invalid

LEFT_BYTES = 160 << 20
"""For PostgreSQL, which shares the disk and ends when it is full."""
SIZE_MIN_BYTES = 1 << 30


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
        size = shutil.disk_usage(self.directory).free - LEFT_BYTES
        if size <= 0 or self._ballast.exists():
            return False
        with self._ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
        return True

    def empty(self) -> None:
        """Give the room back."""
        self._ballast.unlink(missing_ok=True)
