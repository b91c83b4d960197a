"""A stock of empty directories, for attempts that mostly leave nothing in theirs."""

import os
import stat

_FREE_MAX = 64
_MODE = 0o700


class EmptyDirectories:
    """Directories below one root, which holds nothing else at first.

    One in which nothing was put still has the modification time that `take` set. It is reused,
    which is cheaper than making a new one.
    """

    def __init__(self, root: str, *, reuses: bool = True) -> None:
        self._root = root
        self._free_max = _FREE_MAX if reuses else 0
        self._free: list[str] = []
        self._count = 0

    def take(self) -> str:
        """Return an empty directory."""
        if self._free:
            return self._free.pop()
        self._count += 1
        path = os.path.join(self._root, str(self._count))
        os.mkdir(path, _MODE)
        os.utime(path, ns=(0, 0))
        return path

    def take_back(self, path: str) -> bool:
        """Take back a directory that is no longer in use; return False if that is left to the
        caller, because it is full, or there are enough.
        """
        if len(self._free) < self._free_max and is_untouched(path):
            self._free.append(path)
            return True
        return False


def is_untouched(path: str) -> bool:
    """Say whether a directory of the stock is as it was made."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return status.st_mtime_ns == 0 and status.st_mode == stat.S_IFDIR | _MODE
