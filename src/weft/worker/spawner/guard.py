"""Make sure that no job outlives its spawner, and that only one spawner runs."""

import ctypes
import fcntl
import os
import signal
import time

import msgspec

from weft.wire.spawner import SpawnerLock
from weft.worker.spawner import tree

_PR_SET_CHILD_SUBREAPER = 36
_KILL_ALL_S = 5.0


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
