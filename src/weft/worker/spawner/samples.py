"""Samples of what running attempts use: CPU time and memory, in a file beside the output.

One timer serves all attempts, and runs only while one of them does. An attempt that ends before it
is as old as the period is never looked at.
"""

import os
import time
from collections.abc import Mapping

from weft.wire.plain_files import open_plain
from weft.wire.usage_format import UsageSample, decode_samples, encode_sample, usage_path
from weft.worker.private_files import make_private, write_all
from weft.worker.spawner import tree
from weft.worker.spawner.attempt import Series, SpawnerAttempt
from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.output import output_path
from weft.worker.spawner.own_file import remove

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
            used = tree.read_usage([attempt.pid]).get(attempt.pid)
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
            trees = _Trees(tree.read_processes())
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
        used = tree.read_usage(pids).values()
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

    def __init__(self, table: Mapping[int, tree.Process]) -> None:
        self._children: dict[int, list[int]] = {}
        self._groups: dict[int, list[int]] = {}
        for pid, one in table.items():
            self._children.setdefault(one.parent, []).append(pid)
            self._groups.setdefault(one.group, []).append(pid)

    def pids_of(self, first: int) -> set[int]:
        """Return a process, all below it, and its group."""
        found, todo = {first}, [first]
        while todo:
            for child in self._children.get(todo.pop(), ()):
                if child not in found:
                    found.add(child)
                    todo.append(child)
        return found.union(self._groups.get(first, ()))


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
