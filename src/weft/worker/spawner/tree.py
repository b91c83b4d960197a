"""The tree of processes, read from /proc, and samples of what running attempts use: CPU time and
memory, in a file beside the output.

One timer serves all attempts, and runs only while one of them does. An attempt that ends before it
is as old as the period is never looked at.
"""

import os
import signal
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from weft.wire.plain_files import open_plain
from weft.wire.usage_format import UsageSample, decode_samples, encode_sample, usage_path
from weft.worker.private_files import make_private, write_all
from weft.worker.spawner.attempt import Series, SpawnerAttempt
from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.output import output_path
from weft.worker.spawner.own_file import remove

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
    usage: dict[int, Used] = {}
    for pid in pids:
        line = _read(f"/proc/{pid}/stat")
        fields = line[line.rfind(b")") + 2 :].split(None, _AFTER_PAGES)
        if len(fields) > _PAGES:
            ticks = sum(map(int, fields[_FIRST_TICKS:_LAST_TICKS]))
            usage[pid] = Used(ticks, int(fields[_PAGES]))
    return usage


def descendants(table: Mapping[int, Process], roots: set[int]) -> set[int]:
    """Return the processes that descend from `roots`, without the roots."""
    children: dict[int, list[int]] = {}
    for pid, process in table.items():
        children.setdefault(process.parent, []).append(pid)
    below: set[int] = set()
    todo = list(roots)
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in below and pid not in roots:
                below.add(pid)
                todo.append(pid)
    return below


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
        doomed = roots | descendants(read_processes(), roots)
        for pid in doomed:
            send(pid, signal.SIGKILL)
        if doomed <= killed:
            return
        killed |= doomed


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


_MS = 1_000_000
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Samples:
    """Take samples of all attempts that run."""

    def __init__(self, loop: EventLoop, logs: str, by_pid: Mapping[int, SpawnerAttempt]) -> None:
        self._loop = loop
        self._logs = logs
        self._by_pid = by_pid
        self._is_due = False
        self._period_ns = 0
        self._count_max = 0

    def limit(self, *, period_ms: int, count_max: int) -> None:
        """Take samples that often, and keep that many of an attempt. A period of 0: take none."""
        self._period_ns, self._count_max = period_ms * _MS, count_max

    def note(self, attempt: SpawnerAttempt) -> None:
        """Note that an attempt runs longer than most."""
        if not self._period_ns:
            return
        if attempt.request.warm is not None:
            used = read_usage([attempt.pid]).get(attempt.pid)
            attempt.series = Series(_milliseconds(used.cpu_ticks) if used else 0)
        if not self._is_due:
            self._is_due = True
            self._loop.at(time.monotonic_ns() + self._period_ns, self._take)

    def _take(self) -> None:
        """Take a sample of each attempt that is old enough and has its turn."""
        self._is_due = False
        now_ns = time.monotonic_ns()
        running = [one for one in self._by_pid.values() if not one.ended_ns]
        if not running or not self._period_ns:
            return
        due = [one for one in running if self._has_turn(one, now_ns)]
        if due:
            trees = _Trees(read_processes())
            for attempt in due:
                self._sample(attempt, trees.pids_of(attempt.pid), now_ns)
        self._is_due = True
        self._loop.at(now_ns + self._period_ns, self._take)

    def _has_turn(self, attempt: SpawnerAttempt, now_ns: int) -> bool:
        if now_ns - attempt.started_ns < self._period_ns:
            return False
        attempt.series = series = attempt.series or Series()
        series.waited += 1
        if series.waited < series.step:
            return False
        series.waited = 0
        return True

    def _sample(self, attempt: SpawnerAttempt, pids: set[int], now_ns: int) -> None:
        series = attempt.series
        assert series is not None, "it has its turn"
        used = read_usage(pids).values()
        cpu_ms = _milliseconds(sum(one.cpu_ticks for one in used)) - series.base_ms
        series.cpu_ms = max(series.cpu_ms, cpu_ms)
        memory_bytes = sum(one.pages for one in used) * _PAGE_BYTES
        at_ms = (now_ns - attempt.started_ns) // _MS
        self._store(attempt, series, UsageSample(at_ms, series.cpu_ms, memory_bytes))

    def _store(self, attempt: SpawnerAttempt, series: Series, sample: UsageSample) -> None:
        """Append a sample. Whoever has no room for it goes on without."""
        key = attempt.key
        path = usage_path(output_path(self._logs, key.batch_id, key.job_id, key.attempt))
        try:
            _append(path, encode_sample(sample))
            series.count += 1
            if series.count >= self._count_max:
                series.count = _halve(path)
                series.step *= 2
        except OSError:
            return


class _Trees:
    """The children and groups of all processes, looked up once for many attempts."""

    def __init__(self, table: Mapping[int, Process]) -> None:
        self._children: dict[int, list[int]] = {}
        self._groups: dict[int, list[int]] = {}
        for pid, one in table.items():
            self._children.setdefault(one.parent, []).append(pid)
            self._groups.setdefault(one.group, []).append(pid)

    def pids_of(self, first: int) -> set[int]:
        """Return a process, all below it, and its group."""
        pids, todo = {first}, [first]
        while todo:
            for child in self._children.get(todo.pop(), ()):
                if child not in pids:
                    pids.add(child)
                    todo.append(child)
        return pids.union(self._groups.get(first, ()))


def _append(path: str, data: bytes) -> None:
    try:
        fd = open_plain(path, _FLAGS)
    except FileNotFoundError:
        make_private(os.path.dirname(path))
        fd = open_plain(path, _FLAGS)
    try:
        write_all(fd, data)
    finally:
        os.close(fd)


def _halve(path: str) -> int:
    """Keep every second sample, the last one included; return how many are left."""
    with open(path, "rb", opener=open_plain) as file:
        kept = decode_samples(file.read())[::-1][::2][::-1]
    temporary = f"{path}~"
    try:
        with open(temporary, "wb", opener=open_plain) as file:
            file.write(b"".join(map(encode_sample, kept)))
        os.replace(temporary, path)
    except OSError:
        remove(temporary)
        raise
    return len(kept)


def _milliseconds(ticks: int) -> int:
    return ticks * 1000 // _TICKS_PER_S
