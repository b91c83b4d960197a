"""The name of a directory of logs: what tells it from one on another host, or of another home."""

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from weft.ports.log_store import LogDirectory

_NAME_FILE = "place"


def directory_name(root: Path) -> str:
    """Return the name of this directory of logs; the first caller makes it."""
    file = root / _NAME_FILE
    try:
        return file.read_text().strip()
    except FileNotFoundError:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(prefix=".place.", dir=root)
    try:
        with os.fdopen(handle, "w") as new:
            new.write(secrets.token_hex(16))
        with suppress(FileExistsError):  # somebody was faster
            file.hardlink_to(fresh)
    finally:
        Path(fresh).unlink()
    return file.read_text().strip()


class Directories:
    """The directories of logs of a home, by name: one for each database, below the home's own."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._found: dict[str, Path] = {}

    def find(self, directory: LogDirectory) -> Path | None:
        """Return the directory; None: it is not in this home."""
        if directory.name not in self._found:
            self._found = dict(self._look())
        return self._found.get(directory.name)

    def path_of(self, directory: LogDirectory | None) -> Path:
        """Return the directory in which to look: None: the shared one."""
        if directory is None:
            return self._root
        return self.find(directory) or self._root / "elsewhere"

    def _look(self) -> list[tuple[str, Path]]:
        found = []
        for directory in (self._root, *self._root.glob("*/")):
            with suppress(OSError):
                found.append(((directory / _NAME_FILE).read_text().strip(), directory))
        return found
