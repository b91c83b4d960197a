"""Files in which running attempts say something to the agent: one for each that wrote one."""

import os
import stat
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from weft.core.attempt_key import AttemptKey
from weft.worker.private_files import make_private

_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NoPlainFile(Exception):
    """The job has put something else in the place of its file."""


class AttemptFiles:
    """One file per attempt, if it wrote one. The job may have put anything in its place."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def prepare(self, kept: Iterable[AttemptKey]) -> None:
        """Make the directory, and remove what attempts left that are not these."""
        make_private(os.fspath(self._directory))
        names = {key.name for key in kept}
        for entry in self._directory.iterdir():
            if entry.name not in names:
                _remove(entry)

    def names(self) -> Collection[str]:
        """Return the names of attempts that have one."""
        try:
            return os.listdir(self._directory)  # noqa: PTH208 (texts)
        except FileNotFoundError:
            return ()

    def content(self, key: AttemptKey, bytes_max: int) -> bytes:
        """Return what an attempt wrote, or a byte more than it may. Raise `NoPlainFile`,
        `OSError`.
        """
        descriptor = os.open(self._directory / key.name, _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NoPlainFile
            return file.read(bytes_max + 1)

    def remove(self, keys: Sequence[AttemptKey]) -> None:
        """Remove the files of attempts, if there are any: one look for all, because most have
        none.
        """
        names = self.names()
        for name in {key.name for key in keys}.intersection(names) if names else ():
            _remove(self._directory / name)


def _remove(path: Path) -> None:
    with suppress(OSError):  # a directory stays, and nobody reads it
        path.unlink()
