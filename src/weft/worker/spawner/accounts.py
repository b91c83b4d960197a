"""Processes under the Unix accounts of their users, started by a spawner that is root (ADR 61).

Nothing of a job acts before the account is its user's: its variables and its directory count for
programs that already run under that account. `posix_spawn` cannot change the account, so these
starts fork.
"""

import ctypes
import os
from collections.abc import Mapping, Sequence

from weft.wire.spawner import Account
from weft.worker.spawner.cgroups import ENTER_FD
from weft.worker.spawner.posix_spawn import pair

_PR_SET_NO_NEW_PRIVS = 38
_ENTERED_BY_ALL = 0o711
_ENTER = 'cd -- "$1" || exit 126; shift; exec "$@"'


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


def entering(cwd: str, argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command that enters a directory as its own account does, then runs `argv`."""
    return ("/bin/sh", "-c", _ENTER, "sh", cwd, *argv)


class AccountSpawn:
    """One prepared start, as `posix_spawn.Spawn`. `fds`: the three standard streams, and the
    entrance of a cgroup. The caller's `cwd` is one that the account may enter: it is entered as
    root.
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
        if any("\0" in word for word in (*argv, *(pair(*one) for one in env.items()))):
            raise ValueError("embedded null byte")
        self._path, self._argv, self._env, self._cwd = path, argv, env, cwd
        self._account = account
        self._streams = {its: ours for ours, its in fds}
        self._entrance = self._streams.get(ENTER_FD)
        for its in (1, 2):  # so that the job may open /dev/stdout
            os.fchown(self._streams[its], account.uid, account.gid)

    def run(self) -> int:
        """Return the process id. Raises `OSError`. The process leads a group of its own."""
        import subprocess  # noqa: PLC0415 (most spawners start nothing this way)

        process = subprocess.Popen(
            self._argv, executable=self._path, env=self._env, cwd=self._cwd,
            stdin=self._streams[0], stdout=self._streams[1], stderr=self._streams[2],
            user=self._account.uid, group=self._account.gid,
            extra_groups=list(self._account.groups), process_group=0,
            preexec_fn=None if self._entrance is None else self._enter_cgroup,  # noqa: PLW1509
        )  # fmt: skip
        process.returncode = 0  # we wait for it ourselves
        return process.pid

    def _enter_cgroup(self) -> None:
        """Enter the cgroup, in the new process: its account may not, but who opened the file may.
        Other threads of the spawner hold no lock that this takes.
        """
        assert self._entrance is not None
        os.write(self._entrance, b"0")

    def by_shell(self) -> None:
        """Run a script without a `#!` line with sh, as a shell does."""
        self._argv = ("/bin/sh", self._path, *self._argv[1:])
        self._path = "/bin/sh"
