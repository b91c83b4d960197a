"""The tree of processes, read from /proc."""

import os
import signal
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_PASSES_MAX = 10
_FIRST_TICKS, _LAST_TICKS, _PAGES, _AFTER_PAGES = 11, 15, 21, 22
"""Fields of `/proc/PID/stat`, counted from the state: four CPU times, and resident pages."""


class Process(NamedTuple):
    """One line of the process table."""

    parent: int
    group: int
    is_zombie: bool


def read_processes() -> dict[int, Process]:
    """Return all processes that can be seen, by process id."""
    table: dict[int, Process] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            process = read_process(int(name))
            if process is not None:
                table[int(name)] = process
    return table


def read_process(pid: int) -> Process | None:
    """Return one process, or `None` if it is gone."""
    line = _read(f"/proc/{pid}/stat")
    # The name in brackets may contain blanks and brackets.
    fields = line[line.rfind(b")") + 2 :].split(None, 3)
    if len(fields) < 4:  # noqa: PLR2004 (state, parent, group, the rest)
        return None
    return Process(int(fields[1]), int(fields[2]), fields[0] in b"ZX")


class Used(NamedTuple):
    """What a process uses."""

    cpu_ticks: int
    """CPU time of its own and of the children that it has waited for."""
    pages: int
    """Of memory, now."""


def read_usage(pids: Iterable[int]) -> dict[int, Used]:
    """Return what these processes use, without those that are gone."""
    found: dict[int, Used] = {}
    for pid in pids:
        line = _read(f"/proc/{pid}/stat")
        fields = line[line.rfind(b")") + 2 :].split(None, _AFTER_PAGES)
        if len(fields) > _PAGES:
            ticks = sum(map(int, fields[_FIRST_TICKS:_LAST_TICKS]))
            found[pid] = Used(ticks, int(fields[_PAGES]))
    return found


def descendants(table: Mapping[int, Process], roots: set[int]) -> set[int]:
    """Return the processes that descend from `roots`, without the roots."""
    children: dict[int, list[int]] = {}
    for pid, process in table.items():
        children.setdefault(process.parent, []).append(pid)
    found: set[int] = set()
    todo = list(roots)
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in found and pid not in roots:
                found.add(pid)
                todo.append(pid)
    return found


def read_mark(pid: int, variable: bytes) -> bytes | None:
    """Return a variable of the environment with which a process was started."""
    start = variable + b"="
    for entry in _read(f"/proc/{pid}/environ").split(b"\0"):
        if entry.startswith(start):
            return entry[len(start) :]
    return None


def send(pid: int, number: int) -> None:
    """Send a signal; ignore a process that is gone already."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def send_group(group: int, number: int) -> None:
    """Send a signal to a process group, if it still has members."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


def ask_to_end(pids: set[int]) -> None:
    """Send SIGTERM, and SIGCONT so that a stopped process receives it."""
    for pid in pids:
        send(pid, signal.SIGTERM)
        send(pid, signal.SIGCONT)


def kill_with_descendants(roots: set[int]) -> None:
    """Kill these processes and all their descendants, including those started meanwhile."""
    killed: set[int] = set()
    for _ in range(_PASSES_MAX):
        found = roots | descendants(read_processes(), roots)
        for pid in found:
            send(pid, signal.SIGKILL)
        if found <= killed:
            return
        killed |= found


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""


class Children:
    """The children of this process's first thread, as the kernel lists them: processes that this
    thread started and every adopted orphan, but none that other threads started.
    """

    def __init__(self) -> None:
        self._fd = -1
        try:
            self._fd = os.open(
                f"/proc/self/task/{os.getpid()}/children", os.O_RDONLY | os.O_CLOEXEC
            )
        except OSError:  # a kernel without CONFIG_PROC_CHILDREN
            return

    @property
    def lists_all(self) -> bool:
        """Say whether children of other threads are listed too, because the kernel has no list."""
        return self._fd < 0

    def read(self) -> list[bytes]:
        """Return their process ids as text, zombies included."""
        if self._fd < 0:
            me = os.getpid()
            return [str(pid).encode() for pid, one in read_processes().items() if one.parent == me]
        data = b""
        while more := os.pread(self._fd, 1 << 16, len(data)):
            data += more
        return data.split()
