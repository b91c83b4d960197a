"""Directories in which a job finds what an earlier attempt of it has left.

`kept/b12.j7` belongs to a job, whichever worker of the home runs it. Most jobs never write there,
so an attempt whose job has none gets an empty one of the stock in `fresh`, which takes its job's
name when something is found in it. The agent removes what is kept once the job has ended.
"""

import os
from contextlib import suppress

from weft.core.states import AttemptKey
from weft.worker.private_files import make_private
from weft.worker.spawner.accounts import open_to_accounts
from weft.worker.spawner.scratch import EmptyDirectories, is_untouched

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
