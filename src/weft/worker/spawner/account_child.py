"""What a new process under the account of a user does, until it is the job.

It is a copy of the spawner, which waits for nothing here: a program may be on a file system that
never answers. All is loaded already, because a copy of one of several threads may wait for ever
for what another one held.
"""

import errno
import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, NoReturn

from weft.core.states import Reason
from weft.wire.spawner import Account
from weft.worker.spawner.descriptors import WHY_FD
from weft.worker.spawner.programs import NO_ROOM, CannotStart, cannot_enter, explain, find_program

_WHY_BYTES_MAX = 4096
_AGAIN_S = 0.05
_TRIES = 200
_NOT_RUN = 127
_SHELL = "/bin/sh"


class Child(NamedTuple):
    """What is to become of the process."""

    path: str
    """The program: a path, or a name to be found in the job's own PATH."""
    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    account: Account
    fds: Mapping[int, int]
    """Our descriptors by their numbers in the process."""
    entrance: int | None
    """The file by which it enters its cgroup: its account may not, but who opened it may."""


def become(child: Child) -> NoReturn:
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


def _leave_the_spawner(child: Child) -> None:
    for its, ours in child.fds.items():
        os.dup2(ours, its, inheritable=its != WHY_FD)
    if child.entrance is not None:
        os.write(child.entrance, b"0")
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd > WHY_FD:  # none is to be found there as a program
            with suppress(OSError):
                os.close(fd)
    os.setpgid(0, 0)
    account = child.account
    os.setgroups(account.groups)
    os.setresgid(account.gid, account.gid, account.gid)
    os.setresuid(account.uid, account.uid, account.uid)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _run_program(child: Child) -> NoReturn:
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
