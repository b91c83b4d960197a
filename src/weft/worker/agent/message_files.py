"""Messages for running jobs: each is a file in a directory of the attempt."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from weft.core.states import AttemptKey
from weft.worker.private_files import make_private
from weft.worker.trees import TreeRemovals

MESSAGES: Final = "messages"
"""Their directory in the worker's scratch directory."""
_UNFINISHED: Final = ".unfinished"
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class MessageFiles:
    """One directory per attempt that got a message. The job may put anything in its place."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._having: set[AttemptKey] = set()
        self._removals = TreeRemovals()

    def prepare(self, kept: Iterable[AttemptKey]) -> None:
        """Make the directory, and remove what attempts left that are not these."""
        make_private(os.fspath(self._directory))
        keys = {key.name: key for key in kept}
        for entry in self._directory.iterdir():
            if entry.name in keys:
                self._having.add(keys[entry.name])
            else:
                self._removals.remove(entry)

    def add(self, key: AttemptKey, number: int, text: str) -> str:
        """Give an attempt a message; return why not, or nothing. A repeat is the same file."""
        path = self._directory / key.name
        self._having.add(key)
        try:
            path.mkdir(mode=0o700, exist_ok=True)
            directory = os.open(path, _DIRECTORY)
            try:
                _write(directory, f"{number:012}", text.encode())
            finally:
                os.close(directory)
        except OSError as error:
            return f"it cannot be written: {error.strerror}"
        return ""

    def remove(self, key: AttemptKey) -> None:
        """Remove the messages of an attempt, if it got any."""
        if key in self._having:
            self._having.remove(key)
            self._removals.remove(self._directory / key.name)

    def wait(self) -> None:
        """Wait until what was removed is gone."""
        self._removals.wait()


def _write(directory: int, name: str, body: bytes) -> None:
    """Make a file that is complete as soon as it has its name."""
    with suppress(FileNotFoundError):
        os.unlink(_UNFINISHED, dir_fd=directory)
    with os.fdopen(os.open(_UNFINISHED, _FILE, 0o600, dir_fd=directory), "wb") as file:
        file.write(body)
    os.rename(_UNFINISHED, name, src_dir_fd=directory, dst_dir_fd=directory)
