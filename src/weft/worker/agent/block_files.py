"""What jobs ask to wait for, read from the files that they leave when they exit with 75."""

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from weft.core.attempt_key import AttemptKey
from weft.core.conditions import FILE_BYTES_MAX, Ask, WrongAsk, read_ask
from weft.worker.private_files import make_private

BLOCKS: Final = "blocks"
"""Their directory in the worker's scratch directory."""
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class BlockFiles:
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

    def read(self, key: AttemptKey) -> Ask | None:
        """Return what an attempt asks for; None: nothing. Raise `WrongAsk`."""
        try:
            return read_ask(_read(self._directory / key.name))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise WrongAsk(f"it cannot be read: {error.strerror}") from error

    def remove(self, keys: Sequence[AttemptKey]) -> None:
        """Remove the files of attempts, if there are any: one look for all, because most have
        none.
        """
        with suppress(FileNotFoundError):
            names = set(os.listdir(self._directory))  # noqa: PTH208 (texts)
            for name in names.intersection(key.name for key in keys) if names else ():
                _remove(self._directory / name)


def _remove(path: Path) -> None:
    with suppress(OSError):  # a directory stays, and nobody reads it
        path.unlink()


def _read(path: Path) -> bytes:
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise WrongAsk("it is not a plain file")
        return file.read(FILE_BYTES_MAX + 1)
