"""The parts of the log store `files`, as roles get them (entry point `weft.log_stores`)."""

import asyncio
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from weft.plugins.log_stores.files import FileLogStore
from weft.plugins.log_stores.files.directory import directory_name
from weft.plugins.log_stores.files.writer import FileLogWriter
from weft.ports.log_store import LogStoreSite

_NAME = re.compile(r"b([1-9][0-9]*)")


class FileLogKeeper:
    """The files of attempts below one directory, by batch; see the port for the methods.

    Links are neither followed nor removed: what they name is not ours.
    """

    def __init__(self, root: Path) -> None:
        self._attempts = root / "attempts"

    async def batches(self) -> Sequence[int]:
        return await asyncio.to_thread(self._batches)

    async def remove(self, batch_ids: Sequence[int]) -> None:
        await asyncio.to_thread(self._remove, batch_ids)

    def _batches(self) -> list[int]:
        try:
            names = [entry.name for entry in self._attempts.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(int(match[1]) for name in names if (match := _NAME.fullmatch(name)))

    def _remove(self, batch_ids: Sequence[int]) -> None:
        for batch_id in batch_ids:
            path = self._attempts / f"b{batch_id}"
            if path.is_dir() and not path.is_symlink():
                _remove_tree(path)


def _remove_tree(path: Path) -> None:
    """Remove a tree of any depth, by a program: a job of this account makes more levels than
    Python has calls. Raise `OSError` if something is left.
    """
    done = subprocess.run(
        ["/bin/rm", "-rf", "--", path], check=False, stdin=subprocess.DEVNULL, capture_output=True
    )
    if done.returncode and path.exists():  # else another worker of this home was faster
        said = done.stderr.decode(errors="replace").strip()
        raise OSError(said.rpartition("\n")[2] or f"{path} could not be removed")


class FileLogs:
    """Files below one directory; see the port for the methods."""

    def __init__(self, site: LogStoreSite) -> None:
        self._root = site.root

    @property
    def place(self) -> str:
        """Return the name of the directory; the first caller makes it."""
        return directory_name(self._root)

    def reader(self) -> FileLogStore:
        """Return what reads this directory and those below it."""
        return FileLogStore(self._root)

    def keeper(self) -> FileLogKeeper:
        return FileLogKeeper(self._root)

    def writer(self) -> FileLogWriter:
        """Return what writes output that was collected elsewhere."""
        return FileLogWriter(self._root)
