"""Packed folders that jobs need, fetched and unpacked once for all jobs of this worker."""

import asyncio
import os
import shutil
import time
from pathlib import Path
from typing import Final

from weft.core.errors import WeftError
from weft.wire.app_folder import BadFolder, unpack
from weft.wire.payload import DIGEST
from weft.worker.agent.parts import ReadPart, write_parts

KEPT_S: Final = 7 * 86_400
"""A folder that no job has run for this time is removed when an agent begins."""


class Folders:
    """One directory for each content, named by its digest; programs copy it."""

    def __init__(self, read_part: ReadPart, directory: Path, what: str) -> None:
        self._read_part = read_part
        self._directory = directory
        self._what = what
        """Such as "its application"."""
        self._fetching: dict[str, asyncio.Task[None]] = {}

    def tidy(self) -> None:
        """Remove what an earlier agent left half unpacked, and what was not used for long."""
        if not self._directory.exists():
            return
        before = time.time() - KEPT_S
        for path in self._directory.iterdir():
            if not DIGEST.fullmatch(path.name) or path.stat().st_mtime < before:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()

    async def fetch(self, batch_id: int, digest: str, bytes_max: int) -> Path:
        """Return the folder of this content. Raise `OSError` if that cannot be written,
        `WeftError` if it is not whole.
        """
        folder = self._directory / digest
        if digest in self._fetching:
            await asyncio.shield(self._fetching[digest])
        elif folder.is_dir():
            os.utime(folder)
        else:
            task = asyncio.create_task(self._make(batch_id, digest, bytes_max))
            self._fetching[digest] = task
            task.add_done_callback(lambda _: self._fetching.pop(digest, None))
            await asyncio.shield(task)
        return folder

    async def _make(self, batch_id: int, digest: str, bytes_max: int) -> None:
        # Jobs may run as other users, who read what they know the name of and never write here.
        self._directory.mkdir(mode=0o711, exist_ok=True)
        folder = self._directory / digest
        packed, half = folder.with_suffix(".packed"), folder.with_suffix(".half")
        try:
            with packed.open("w+b") as file:
                what = f"{self._what} is"
                await write_parts(file, self._read_part, batch_id, digest, what=what)
                file.seek(0)
                shutil.rmtree(half, ignore_errors=True)
                await asyncio.to_thread(unpack, file, half, bytes_max)
            half.rename(folder)
        except BadFolder as error:
            raise WeftError(f"{self._what} cannot be unpacked: {error}") from error
        finally:
            packed.unlink(missing_ok=True)
            shutil.rmtree(half, ignore_errors=True)
