"""Processes under the Unix accounts of their users, started by a spawner that is root (ADR 61).

Nothing of a job acts before the account is its user's, and no path of a job is looked at by root:
the new process finds its program itself, under that account, and says why it could not
(`account_child`). `posix_spawn` cannot change the account, so these starts fork.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import signal
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from weft.core.states import Reason
from weft.wire.spawner import Account
from weft.worker.spawner.posix_spawn import ENTER_FD, WHY_FD, pair
from weft.worker.spawner.programs import NO_ROOM, CannotStart, cannot_enter, explain, find_program

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


@dataclass(eq=False)
class AccountSpawn:
    """One prepared start, as `posix_spawn.Spawn`. `fds`: the three standard streams, `WHY_FD`, and
    the entrance of a cgroup. It is started whether or not its program can be run: what is written
    to `WHY_FD` tells why that could not.
    """

    path: str
    """The program: a path, or a name to be found in the job's own PATH."""
    argv: Sequence[str]
    env: Mapping[str, str]
    fds: Sequence[tuple[int, int]]
    cwd: str
    account: Account
    has_terminal: bool = False

    def __post_init__(self) -> None:
        if not self.account.uid or not self.account.gid:
            raise ValueError("an account of root")
        variables = (pair(*one) for one in self.env.items())
        if any("\0" in word for word in (self.path, self.cwd, *self.argv, *variables)):
            raise ValueError("embedded null byte")
        self.streams = {its: ours for ours, its in self.fds}
        """Our descriptors by their numbers in the process."""
        self.entrance = self.streams.pop(ENTER_FD, None)
        """The file by which it enters its cgroup: its account may not, but who opened it may."""
        for its in (1, 2):  # so that the job may open /dev/stdout
            os.fchown(self.streams[its], self.account.uid, self.account.gid)

    def run(self) -> int:
        """Return the process id. Raises `OSError`. The process leads a group of its own."""
        # No signal may reach our handlers in the new process, where nothing would come of it.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ALL_SIGNALS)
        try:
            pid = os.fork()
            if not pid:
                become(self)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if not self.has_terminal:  # who leads a group cannot begin a session
            with contextlib.suppress(OSError):  # it was faster, and runs its program by now
                os.setpgid(pid, pid)
        return pid


# It is a copy of the spawner, which waits for nothing here: a program may be on a file system that
# never answers. All is loaded already, because a copy of one of several threads may wait for ever
# for what another one held.

_WHY_BYTES_MAX = 4096
_AGAIN_S = 0.05
_TRIES = 200
_NOT_RUN = 127
_SHELL = "/bin/sh"


def become(child: AccountSpawn) -> NoReturn:
    """Become the job, or say why not and end."""
    try:
        _leave_the_spawner(child)
        _run_program(child)
    except CannotStart as failure:
        _say(failure)
    except BaseException as error:  # noqa: BLE001 (nothing may return into a copy of the spawner)
        _say(CannotStart(Reason.SYSTEM, str(error)))
    finally:
        os._exit(_NOT_RUN)


def read_why(fd: int) -> CannotStart | None:
    """Return what a process that has ended said; None: it had become the job."""
    said = os.pread(fd, _WHY_BYTES_MAX, 0).decode(errors="replace")
    if not said:
        return None
    reason, _, message = said.partition(" ")
    return CannotStart(Reason(int(reason)), message)


def _leave_the_spawner(child: AccountSpawn) -> None:
    for its, ours in child.streams.items():
        os.dup2(ours, its, inheritable=its != WHY_FD)
    if child.entrance is not None:
        os.write(child.entrance, b"0")
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd > WHY_FD:  # none is to be found there as a program
            with suppress(OSError):
                os.close(fd)
    if child.has_terminal:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    else:
        os.setpgid(0, 0)
    account = child.account
    os.setgroups(account.groups)
    os.setresgid(account.gid, account.gid, account.gid)
    os.setresuid(account.uid, account.uid, account.uid)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _run_program(child: AccountSpawn) -> NoReturn:
    try:
        os.chdir(child.cwd)
    except OSError as error:
        raise cannot_enter(child.cwd, error) from error
    path, argv = child.path, tuple(child.argv)
    if "/" not in path:
        path = find_program(path, child.env, child.cwd)
    why = ""
    for _ in range(_TRIES):
        try:
            os.execve(path, argv, child.env)  # noqa: S606 (it is the program of the job)
        except OSError as error:
            if error.errno == errno.ENOEXEC and path != _SHELL:
                path, argv = _SHELL, (_SHELL, path, *argv[1:])
                continue
            if error.errno not in {errno.ETXTBSY, *NO_ROOM}:
                raise explain(error, path, child.cwd) from error
            why = error.strerror or ""
        time.sleep(_AGAIN_S)
    raise CannotStart(Reason.SYSTEM, f"the program {path} cannot be run now: {why}")


def _say(failure: CannotStart) -> None:
    text = f"{int(failure.reason)} {failure.message}".encode(errors="replace")
    os.write(WHY_FD, text[:_WHY_BYTES_MAX])
