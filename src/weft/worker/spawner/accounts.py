"""Processes under the Unix accounts of their users, started by a spawner that is root (ADR 61).

Nothing of a job acts before the account is its user's, and no path of a job is looked at by root:
the new process finds its program itself, under that account, and says why it could not
(`account_child`). `posix_spawn` cannot change the account, so these starts fork.
"""

import contextlib
import ctypes
import os
import signal
from collections.abc import Mapping, Sequence

from weft.wire.spawner import Account
from weft.worker.spawner.account_child import Child, become
from weft.worker.spawner.descriptors import ENTER_FD
from weft.worker.spawner.posix_spawn import pair

_PR_SET_NO_NEW_PRIVS = 38
_ENTERED_BY_ALL = 0o711
_ALL_SIGNALS = signal.valid_signals()


def forbid_new_privileges() -> None:
    """Let neither this process nor what it starts gain rights by a program such as sudo."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_NO_NEW_PRIVS")


def open_to_accounts(*directories: str) -> None:
    """Let all accounts reach what is theirs in these directories, without a list of it."""
    for path in directories:
        os.chmod(path, _ENTERED_BY_ALL)


def give(path: str, account: Account) -> None:
    """Make a directory or file that of an account."""
    status = os.lstat(path)
    if (status.st_uid, status.st_gid) != (account.uid, account.gid):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


class AccountSpawn:
    """One prepared start, as `posix_spawn.Spawn`. `fds`: the three standard streams, `WHY_FD`, and
    the entrance of a cgroup. It is started whether or not its program can be run: what is written
    to `WHY_FD` tells why that could not.
    """

    def __init__(
        self,
        path: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        fds: Sequence[tuple[int, int]],
        cwd: str,
        account: Account,
    ) -> None:
        if not account.uid or not account.gid:
            raise ValueError("an account of root")
        if any("\0" in word for word in (path, cwd, *argv, *(pair(*one) for one in env.items()))):
            raise ValueError("embedded null byte")
        streams = {its: ours for ours, its in fds}
        entrance = streams.pop(ENTER_FD, None)
        self._child = Child(path, argv, dict(env), cwd, account, streams, entrance)
        for its in (1, 2):  # so that the job may open /dev/stdout
            os.fchown(streams[its], account.uid, account.gid)

    def run(self) -> int:
        """Return the process id. Raises `OSError`. The process leads a group of its own."""
        # No signal may reach our handlers in the new process, where nothing would come of it.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ALL_SIGNALS)
        try:
            pid = os.fork()
            if not pid:
                become(self._child)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        with contextlib.suppress(OSError):  # it was faster, and runs its program by now
            os.setpgid(pid, pid)
        return pid
