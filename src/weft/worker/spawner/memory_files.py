"""Files of attempts that must not reach a disk, in a directory on a memory file system.

It is named after the scratch directory of the worker, so that the next spawner removes what one
that was killed has left: its jobs are gone.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping

from weft.wire.spawner import Account
from weft.worker.private_files import write_all
from weft.worker.spawner.accounts import open_to_accounts

DIRECTORY = "/dev/shm"  # noqa: S108 (below it, all names are ours or random)
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_BY_OWNER = 0o400
_ENTERED_BY_OWNER = 0o500
_PRIVATE = 0o700


class NoMemoryFileSystem(Exception):
    """This host has no memory file system where we look for one."""


class MemoryFiles:
    """One directory per attempt, with files that its processes may read."""

    def __init__(self, scratch: str, directory: str = DIRECTORY) -> None:
        of_worker = hashlib.sha256(os.path.realpath(scratch).encode()).hexdigest()[:16]
        self._prefix = f"weft-{os.geteuid()}-{of_worker}."
        self._directory = directory
        self._root: str | None = None
        self._remove_what_was()

    def make(self, name: str, files: Mapping[str, str], account: Account | None = None) -> str:
        """Write the files of an attempt; return their directory. Raise `OSError`,
        `NoMemoryFileSystem`. With an account the directories stay ours and the files are its own,
        so that nothing is removed below a directory that a job can change.
        """
        path = os.path.join(self._private_root(), name)
        os.mkdir(path, _PRIVATE)
        try:
            for file, text in files.items():
                fd = os.open(os.path.join(path, file), _FLAGS, _READ_BY_OWNER)
                try:
                    write_all(fd, text.encode())
                    if account is not None:
                        os.fchown(fd, account.uid, account.gid)
                finally:
                    os.close(fd)
            if account is None:
                os.chmod(path, _ENTERED_BY_OWNER)
            else:
                open_to_accounts(os.path.dirname(path), path)
        except BaseException:
            self.remove(path)
            raise
        return path

    def remove(self, path: str) -> None:
        """Remove a directory that `make` returned, and what its attempt put there."""
        with contextlib.suppress(OSError):
            os.chmod(path, _PRIVATE)
        for root, directories, files in os.walk(path, topdown=False):
            for name in (*files, *directories):
                _remove_one(os.path.join(root, name))
        _remove_one(path)

    def close(self) -> None:
        """Remove everything, when no process of an attempt lives."""
        self._remove_what_was()

    def _private_root(self) -> str:
        if self._root is None:
            if not _is_memory(self._directory):
                raise NoMemoryFileSystem(
                    f"this host has no memory file system at {self._directory} for secrets"
                )
            root = os.path.join(self._directory, self._prefix + os.urandom(8).hex())
            os.mkdir(root, _PRIVATE)
            self._root = root
        return self._root

    def _remove_what_was(self) -> None:
        """Remove what an earlier spawner of this worker has left. Others may use the same names:
        only what is ours goes.
        """
        try:
            names = os.listdir(self._directory)
        except OSError:
            return
        for name in names:
            if not name.startswith(self._prefix):
                continue
            path = os.path.join(self._directory, name)
            with contextlib.suppress(OSError):
                entry = os.lstat(path)
                if stat.S_ISDIR(entry.st_mode) and entry.st_uid == os.geteuid():
                    for one in os.listdir(path):
                        self.remove(os.path.join(path, one))
                    self.remove(path)


def _remove_one(path: str) -> None:
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(os.lstat(path).st_mode):
            os.rmdir(path)
        else:
            os.unlink(path)


def _is_memory(directory: str) -> bool:
    """Say whether a file system in memory is mounted there."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
            found = [line.split()[2] for line in mounts if line.split()[1] == directory]
    except OSError:
        return False
    return bool(found) and found[-1] in {"tmpfs", "ramfs"}
