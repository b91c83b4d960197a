"""Run a spawner: `python -m weft.worker.spawner SOCKET LOCK LOGS SCRATCH CHECKPOINTS READY_FD`.

More words: `accounts`, for processes under other accounts; `cgroups` and a directory, for cgroups
of attempts below it. It writes one byte to READY_FD when an agent can connect. Exit code 3:
another one holds the lock.
"""

import contextlib
import ctypes
import fcntl
import gc
import os
import signal
import socket
import sys
import time
from types import FrameType

import msgspec

from weft.wire import exec as wire
from weft.wire.processes import reset_signals
from weft.wire.spawner import ENDS, SpawnerLock
from weft.worker.spawner import tree
from weft.worker.spawner.agent_link import AgentLink
from weft.worker.spawner.cgroups import Cgroups
from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.posix_spawn import forbid_new_privileges
from weft.worker.spawner.scratch import Checkpoints, MemoryFiles, Scratch
from weft.worker.spawner.spawner import Spawner

ALREADY_RUNS = 3
ACCOUNTS = "accounts"
CGROUPS = "cgroups"
_PR_SET_CHILD_SUBREAPER = 36
_KILL_ALL_S = 5.0
_NICE = -10


def main(argv: list[str]) -> int:
    """Serve until told to quit, then kill everything that runs."""
    socket_path, lock_path, logs, scratch, checkpoints, ready_fd, *modes = argv
    uses_accounts = ACCOUNTS in modes
    directory = modes[modes.index(CGROUPS) + 1] if CGROUPS in modes else None
    os.chdir("/")
    reset_signals()
    incarnation = os.urandom(12).hex()
    try:
        take_lock(lock_path, incarnation)
    except AlreadyRuns:
        return ALREADY_RUNS
    pid_namespace = become_reaper()
    if uses_accounts:
        forbid_new_privileges()
    cgroups = Cgroups(directory)
    memory_files = MemoryFiles(scratch)
    loop = EventLoop()
    link = AgentLink(loop, listen(socket_path))
    spawner = Spawner(
        loop,
        link,
        logs=logs,
        # Without symlinks, so that a sandbox has them under the names that its job is told.
        scratch=Scratch(os.path.realpath(scratch), for_accounts=uses_accounts),
        checkpoints=Checkpoints(
            os.path.realpath(checkpoints), os.path.basename(scratch), for_accounts=uses_accounts
        ),
        memory_files=memory_files,
        cgroups=cgroups,
        ends=lock_path + ENDS,
        incarnation=incarnation,
        execs=listen(socket_path + wire.SUFFIX, socket.SOCK_SEQPACKET),
        pid_namespace=pid_namespace,
        uses_accounts=uses_accounts,
    )
    _end_on_signals(loop, spawner)
    os.write(int(ready_fd), b"\n")
    os.close(int(ready_fd))
    # Nothing here makes cycles; collecting them would only stall the loop.
    gc.collect()
    gc.freeze()
    gc.disable()
    go_first()
    try:
        spawner.run()
    finally:
        kill_everything()
        memory_files.close()
        cgroups.close()
    return 0


def listen(path: str, kind: socket.SocketKind = socket.SOCK_STREAM) -> socket.socket:
    """Return a listening socket that replaces an older one. Its path may have any length."""
    directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    short = f"/proc/self/fd/{directory}/{os.path.basename(path)}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, kind)
    mask = os.umask(0o177)
    try:
        listener.bind(short)
    finally:
        os.umask(mask)
        os.close(directory)
    listener.listen(8)
    return listener


def _end_on_signals(loop: EventLoop, spawner: Spawner) -> None:
    """Quit on SIGTERM. The handler only wakes the loop."""
    wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        spawner.quitting = True

    # Handled, not ignored: an ignored signal stays ignored in a child.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, on_signal)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    loop.watch(wake_read, lambda: _drain(wake_read))


def _drain(fd: int) -> None:
    try:
        os.read(fd, 1024)
    except BlockingIOError:
        return


class AlreadyRuns(Exception):
    """Another spawner holds the lock."""


def take_lock(path: str, incarnation: str) -> int:
    """Take the lock for the life of this process and write down its holder.

    The kernel frees it when the process dies, so if it can be taken, the spawner is dead.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(fd)
        raise AlreadyRuns(path) from error
    os.ftruncate(fd, 0)
    os.pwrite(fd, msgspec.json.encode(_describe(incarnation)), 0)
    return fd


def _describe(incarnation: str) -> SpawnerLock:
    """Return what identifies this process uniquely, also after reboots."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot_id = file.read().strip()
    with open("/proc/self/stat", "rb") as file:
        after_name = file.read().rpartition(b")")[2].split()
    return SpawnerLock(
        incarnation=incarnation,
        pid=os.getpid(),
        pid_namespace_inode=os.stat("/proc/self/ns/pid").st_ino,
        boot_id=boot_id,
        started_ticks=int(after_name[19]),
    )


def become_reaper() -> bool:
    """Make orphans of jobs our children; say whether we are PID 1 anyway."""
    if os.getpid() == 1:
        return True
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return False


def go_first() -> None:
    """Let this thread run before jobs if it may, as a place is free until it has started the next
    one; without that it waits behind a job while another core is idle. What it starts is usual.
    """
    with contextlib.suppress(OSError):  # no right to, or a system that has no such call
        if (os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)) == (os.SCHED_OTHER, 0):
            os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
            os.setpriority(os.PRIO_PROCESS, 0, _NICE)


def kill_everything() -> None:
    """Kill all descendants of this process and wait until they are gone."""
    deadline = time.monotonic() + _KILL_ALL_S
    while time.monotonic() < deadline:
        found = tree.descendants(tree.read_processes(), {os.getpid()})
        for pid in found:
            tree.send(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0 if found else os.WNOHANG)
        except ChildProcessError:
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
