"""Remove the files of batches that were deleted."""

import asyncio
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_NAME = re.compile(r"b([1-9][0-9]*)")


class FileLogKeeper:
    """The files of attempts below one directory, by batch; see the port for the methods.

    Links are neither followed nor removed: what they name is not ours.
    """

    def __init__(self, root: Path) -> None:
        self._attempts = root / "attempts"

    async def batches(self) -> Sequence[int]:
        """Return the batches with files."""
        return await asyncio.to_thread(self._batches)

    async def remove(self, batch_ids: Sequence[int]) -> None:
        """Remove the files of these batches."""
        await asyncio.to_thread(self._remove, batch_ids)

    def _batches(self) -> list[int]:
        try:
            names = [entry.name for entry in self._attempts.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(int(match[1]) for name in names if (match := _NAME.fullmatch(name)))

    def _remove(self, batch_ids: Sequence[int]) -> None:
        assert shutil.rmtree.avoids_symlink_attacks
        for batch_id in batch_ids:
            path = self._attempts / f"b{batch_id}"
            if path.is_dir() and not path.is_symlink():
                with suppress(FileNotFoundError):  # another worker of this home was faster
                    shutil.rmtree(path)
