"""Processes that a dead spawner left on this host.

They are identified only by their mark: the random name of the spawner's incarnation in the
environment of each process that it started. Process ids and inode numbers prove nothing, because
the kernel reuses both: their present owner may belong to a container or to another home.

A spawner with its own PID namespace takes everything with it. Without one, a process that has
cleared its environment and left its process group is not found.
"""

import os
import signal
from pathlib import Path

from weft.wire.processes import all_pids, parts_of
from weft.wire.spawner import SpawnerLock

_MARK = b"WEFT_ATTEMPT="
_START_FIELD = 22 - 3
"""Position in `/proc/PID/stat` after the name; fields are counted from 1, and 2 is the name."""


def read_boot_id() -> str:
    """Return the random name of the current boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def kill_marked(incarnation: str) -> set[int]:
    """Kill the processes that carry this incarnation's mark; return their ids."""
    pids = all_pids()
    return {pid for pid in pids if _is_marked(pid, incarnation) and _kill(pid, incarnation)}


def is_dying(dead: SpawnerLock) -> bool:
    """Say whether this spawner has not ended yet: the kernel frees its lock before it kills the
    other processes of its namespace.
    """
    return any(_is_spawner(Path(f"/proc/{pid}"), dead) for pid in all_pids() if dead.boot_id)


def _is_marked(pid: int, incarnation: str) -> bool:
    if pid == os.getpid():
        return False
    variables = parts_of(pid, "environ")
    ending = f"@{incarnation}".encode()
    return any(variable.startswith(_MARK) and variable.endswith(ending) for variable in variables)


def _kill(pid: int, incarnation: str) -> bool:
    """Kill a process, unless its id was reused after we looked."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not _is_marked(pid, incarnation):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _is_spawner(entry: Path, dead: SpawnerLock) -> bool:
    try:
        state, *fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
        return (
            int(fields[_START_FIELD - 1]) == dead.started_ticks
            and state not in b"ZX"
            and (entry / "ns/pid").stat().st_ino == dead.pid_namespace_inode
            and _innermost_pid(entry) == dead.pid
        )
    except (OSError, IndexError):
        return False


def _innermost_pid(entry: Path) -> int:
    """Return the id of a process in its own PID namespace."""
    for line in (entry / "status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return int(entry.name)
