"""Empty directories and script files for attempts, made and removed by the spawner."""

import os
import stat
from itertools import islice

from weft.wire.plain_files import open_plain
from weft.worker.spawner.accounts import open_to_accounts

_SIMPLE_ENTRIES_MAX = 32
_MODE = 0o700


class Scratch:
    """Directories below one root. Anything that cannot be removed at once is moved to `trash`."""

    def __init__(self, root: str, *, for_accounts: bool = False) -> None:
        """`for_accounts`: jobs run under several; none gets a directory that another one had."""
        self._work = os.path.join(root, "work")
        self._scripts = os.path.join(root, "scripts")
        self.trash = os.path.join(root, "trash")
        self._empty = EmptyDirectories(self._work, reuses=not for_accounts)
        self.trash_count = 0
        """How many things were moved to `trash` so far."""
        for path in (root, self._work, self._scripts, self.trash):
            os.makedirs(path, mode=_MODE, exist_ok=True)
        if for_accounts:
            open_to_accounts(root, self._work, self._scripts)
        self._discard_what_was()

    def take_directory(self) -> str:
        """Return an empty directory."""
        return self._empty.take()

    def give_back(self, path: str) -> None:
        """Take back a directory that is no longer in use."""
        if not self._empty.take_back(path):
            self._remove(path)

    def write_script(self, name: str, text: str) -> str:
        """Write an executable script and return its path."""
        path = os.path.join(self._scripts, name)
        with open(path, "wb", opener=open_plain) as file:
            os.fchmod(file.fileno(), _MODE)
            file.write(text.encode("utf-8", "surrogateescape"))
        return path

    def remove_script(self, path: str) -> None:
        """Remove what `write_script` wrote."""
        try:
            os.unlink(path)
        except OSError:
            return

    def _remove(self, path: str) -> None:
        """Remove a directory: at once if that is simple, else through the trash."""
        try:
            with os.scandir(path) as entries:
                names = [entry.path for entry in islice(entries, _SIMPLE_ENTRIES_MAX)]
            for name in names:
                os.unlink(name)  # not a directory
            os.rmdir(path)
        except OSError:
            self._discard(path)

    def _discard(self, path: str) -> None:
        self.trash_count += 1
        try:
            os.rename(path, os.path.join(self.trash, f"{os.getpid()}.{self.trash_count}"))
        except OSError:
            return

    def _discard_what_was(self) -> None:
        """Move the leftovers of an older spawner to the trash: its jobs are gone."""
        self._trash_old(self._work)
        self._trash_old(self._scripts)

    def _trash_old(self, directory: str) -> None:
        for name in os.listdir(directory):
            self.trash_count += 1
            old = os.path.join(directory, name)
            new = os.path.join(self.trash, f"old.{os.urandom(8).hex()}")
            os.rename(old, new)


_FREE_MAX = 64


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
