"""Empty directories and script files for attempts, made and removed by the spawner; and files that
must not reach a disk, in a directory on a memory file system.

That is named after the scratch directory of the worker, so that the next spawner removes what one
that was killed has left: its jobs are gone.

And directories in which a job finds what an earlier attempt of it has left: `kept/b12.j7` belongs
to a job, whichever worker of the home runs it. Most jobs never write there, so an attempt whose
job has none gets an empty one of the stock in `fresh`, which takes its job's name when something
is found in it. The agent removes what is kept once the job has ended.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice

from weft.core.states import AttemptKey
from weft.wire.plain_files import open_plain
from weft.wire.spawner import Account
from weft.worker.private_files import make_private, write_all
from weft.worker.spawner.posix_spawn import open_to_accounts

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


_OWNER = ".owner"


class Checkpoints:
    """The directories of one spawner; `kept` is shared by all of a home and a database."""

    def __init__(self, root: str, worker: str, *, for_accounts: bool = False) -> None:
        """`for_accounts`: see `Scratch`."""
        self._kept = os.path.join(root, "kept")
        self._fresh = os.path.join(root, "fresh", worker)
        self._empty = EmptyDirectories(self._fresh, reuses=not for_accounts)
        self._noted: set[str] = set()
        for path in (self._kept, self._fresh):
            make_private(path)
        if for_accounts:
            open_to_accounts(root, self._kept, os.path.dirname(self._fresh), self._fresh)
        self._keep_what_was()

    def take(self, key: AttemptKey) -> str:
        """Return the directory for an attempt: a job's first one finds nothing."""
        if key.attempt > 1 and os.path.isdir(kept := self._path_of(name_of(key))):
            return kept
        return self._empty.take()

    def note(self, key: AttemptKey, path: str) -> None:
        """Note whose directory it is, should this spawner be killed: such attempts run long."""
        if self._is_fresh(path):
            self._noted.add(path)
            with suppress(OSError):
                os.symlink(name_of(key), path + _OWNER)

    def keep(self, key: AttemptKey, path: str) -> bool:
        """Keep the directory for the next attempt, which may begin at once, if something is in it.
        Return False if it is still the stock's.
        """
        if not self._is_fresh(path):
            return True
        if is_untouched(path):
            return False
        self._rename(path, name_of(key))
        return True

    def give_back(self, key: AttemptKey, path: str) -> None:
        """Take back a directory that was not kept, once none of its attempt's processes is alive:
        one may have written since.
        """
        if not self._is_fresh(path):
            return
        if self._empty.take_back(path):
            self._forget_owner(path)
        elif not self.keep(key, path):
            self._forget_owner(path)
            with suppress(OSError):
                os.rmdir(path)

    def _path_of(self, name: str) -> str:
        return os.path.join(self._kept, name)

    def _is_fresh(self, path: str) -> bool:
        return path.startswith(self._fresh)

    def _rename(self, path: str, name: str) -> None:
        """Give a directory to a job. If it has one, another attempt was faster; then nobody finds
        this one, and the agent removes it.
        """
        self._forget_owner(path)
        for wanted in (name, f"{os.urandom(8).hex()}.left"):
            try:
                os.rename(path, self._path_of(wanted))
            except OSError:
                continue
            return

    def _forget_owner(self, path: str) -> None:
        if path in self._noted:
            self._noted.discard(path)
            with suppress(OSError):
                os.unlink(path + _OWNER)

    def _keep_what_was(self) -> None:
        """Keep what an older spawner has left in the stock; its jobs are gone."""
        for entry in os.listdir(self._fresh):
            if entry.endswith(_OWNER):
                continue
            path = os.path.join(self._fresh, entry)
            try:
                owner = os.readlink(path + _OWNER)
            except OSError:
                owner = f"{os.urandom(8).hex()}.left"
            self._noted.add(path)
            try:
                os.rmdir(path)
            except OSError:
                self._rename(path, owner)
            else:
                self._forget_owner(path)


def name_of(key: AttemptKey) -> str:
    """Return the name of the directory of a job."""
    return f"b{key.batch_id}.j{key.job_id}"
