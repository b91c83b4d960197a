"""Keep the output of workers outside: their files, as they wrote them, a directory for each."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

_FILE = re.compile(
    r"segments/[0-9]{8}|attempts/b[1-9][0-9]{0,17}/[0-9]{1,6}/"
    r"[1-9][0-9]{0,8}\.[1-9][0-9]{0,4}(\.([0-9]{1,18}|usage))?"
)
_BATCH = re.compile(r"attempts/b[1-9][0-9]{0,17}")
_FOLDER = re.compile(r"[0-9a-f]{32}")


class FileSpool:
    """Writes below the directory that the api reads; see the port for the methods.

    What a worker sends names files of its own directory only, and nothing but output: it may be a
    stranger's.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, folder: str, path: str, offset: int, data: bytes) -> int:
        """Write a part of a file."""
        if not _FILE.fullmatch(path) or offset < 0:
            raise ValueError(f"{path[:80]!r} is no file of output")
        file = self._directory(folder) / path
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            size = os.fstat(handle).st_size
            if offset > size:
                return size
            while data:
                n_bytes = os.pwrite(handle, data, offset)
                offset, data = offset + n_bytes, data[n_bytes:]
            return max(size, offset)
        finally:
            os.close(handle)

    def remove(self, folder: str, paths: Sequence[str]) -> None:
        """Remove files or batches."""
        for path in paths:
            if not _FILE.fullmatch(path) and not _BATCH.fullmatch(path):
                raise ValueError(f"{path[:80]!r} is neither a file of output nor a batch")
        directory = self._directory(folder)
        for path in paths:
            if _BATCH.fullmatch(path):
                shutil.rmtree(directory / path, ignore_errors=True)
            else:
                (directory / path).unlink(missing_ok=True)

    def _directory(self, folder: str) -> Path:
        if not _FOLDER.fullmatch(folder):
            raise ValueError(f"{folder[:80]!r} is not the name of a directory")
        directory = self._root / f"spool-{folder}"
        name = directory / "place"
        if not name.exists():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = directory / f"place.{os.urandom(8).hex()}"
            fresh.write_text(folder)
            fresh.replace(name)
        return directory
