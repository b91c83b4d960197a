"""`posix_spawn` without Python's global lock.

`os.posix_spawn` keeps the lock until the child has begun its program, so the whole spawner waits
some 400 µs for each process. ctypes releases it for the call: threads start processes in parallel
while the loop continues. Needs Linux with glibc 2.29 or musl 1.1.24, or later.

It cannot change the account, so starts under the Unix accounts of users, by a spawner that is root
(ADR 61), fork. Nothing of a job acts before the account is its user's, and no path of a job is
looked at by root: the new process finds its program itself, under that account, and says why it
could not (`become`).
"""

import contextlib
import ctypes
import errno
import fcntl
import functools
import os
import signal
import termios
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NoReturn

from weft.core.states import Reason
from weft.wire.spawner import Account
from weft.worker.spawner.programs import NO_ROOM, CannotStart, cannot_enter, explain, find_program

_SETPGROUP, _SETSIGDEF, _SETSID = 0x02, 0x04, 0x80
# Larger than these structures are in any libc of these systems.
_ATTRIBUTES_BYTES, _ACTIONS_BYTES, _SIGNAL_SET_BYTES = 1024, 512, 256
_ROUNDED_TO = 16

_CLONE_FS = 0x200
_STDOUT = b"/proc/self/fd/1"

_libc = ctypes.CDLL(None)


def own_umask() -> bool:
    """Give the calling thread a file mode mask and directory of its own, if the system lets it."""
    return bool(_libc.unshare(_CLONE_FS) == 0)


class Spawn:
    """One prepared start. Raises `ValueError` for arguments that no program can be given.

    `fds`: pairs of our descriptor and its number in the child, sorted by the latter. None is
    overwritten before it is copied, because our descriptors have higher numbers.
    """

    def __init__(
        self,
        path: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        fds: Sequence[tuple[int, int]],
        cwd: str,
    ) -> None:
        self.path = path
        self._path = _text(path)
        self._argv = _texts(argv)
        self._env = _texts(pair(name, value) for name, value in env.items())
        self._arguments = argv
        self._fds = fds
        self._cwd = _text(cwd)
        self.has_terminal = False

    def run(self) -> int:
        """Return the process id. Raises `OSError`. The process leads a group of its own."""
        pid = ctypes.c_int()
        actions = ctypes.create_string_buffer(_ACTIONS_BYTES)
        _check(_libc.posix_spawn_file_actions_init(actions))
        try:
            _check(_libc.posix_spawn_file_actions_addchdir_np(actions, self._cwd))
            for ours, its in self._fds:
                _check(_libc.posix_spawn_file_actions_adddup2(actions, ours, its))
            if self.has_terminal:  # who leads a session without one gets what it opens
                again = (actions, 0, _STDOUT, os.O_RDWR, 0)
                _check(_libc.posix_spawn_file_actions_addopen(*again))
            attributes = _attributes(_SETSID if self.has_terminal else _SETPGROUP)
            _check(
                _libc.posix_spawn(
                    ctypes.byref(pid), self._path, actions, attributes, self._argv, self._env
                )
            )
        finally:
            _libc.posix_spawn_file_actions_destroy(actions)
        return pid.value

    def by_shell(self) -> None:
        """Run a script without a `#!` line with sh, as a shell does."""
        self._argv = _texts(("/bin/sh", self.path, *self._arguments[1:]))
        self._path = b"/bin/sh"


@functools.cache
def _attributes(alone: int) -> ctypes.Array[ctypes.c_char]:
    """Return the attributes of starts: a process group or session of its own, default signals."""
    attributes = ctypes.create_string_buffer(_ATTRIBUTES_BYTES)
    signals = ctypes.create_string_buffer(_SIGNAL_SET_BYTES)
    _check(_libc.posix_spawnattr_init(attributes))
    # All signals: Python ignores some, and an ignored signal stays ignored in a child.
    _libc.sigfillset(signals)
    _check(_libc.posix_spawnattr_setsigdefault(attributes, signals))
    _check(_libc.posix_spawnattr_setpgroup(attributes, 0))
    _check(_libc.posix_spawnattr_setflags(attributes, ctypes.c_short(alone | _SETSIGDEF)))
    return attributes


@functools.cache
def _array_of(length: int) -> type[ctypes.Array[ctypes.c_char_p]]:
    return ctypes.c_char_p * length


def _texts(values: Iterable[str]) -> ctypes.Array[ctypes.c_char_p]:
    """Return a null-terminated array; its length is rounded up, so that there are few types."""
    texts = [_text(value) for value in values]
    return _array_of(len(texts) // _ROUNDED_TO * _ROUNDED_TO + _ROUNDED_TO)(*texts)


def _text(value: str) -> bytes:
    text = os.fsencode(value)
    if b"\0" in text:
        raise ValueError("embedded null byte")
    return text


def pair(name: str, value: str) -> str:
    """Return a variable as programs get it. Raise `ValueError` if none can."""
    if not name or "=" in name:
        raise ValueError("illegal environment variable name")
    return f"{name}={value}"


def _check(code: int) -> None:
    if code:
        raise OSError(code, os.strerror(code))


# Two may be the same where no process has both. A warm process finds its socket at `CONTROL_FD`.

WORDS_FD: Final = 3
"""Where bwrap finds the words of `sandboxed.variables_of`."""
WHY_FD: Final = 3
"""Where a process of an account says why its program could not be run."""
ENTER_FD: Final = 4
"""Where a process finds the file by which it enters its cgroup."""


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
