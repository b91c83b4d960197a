"""Processes that jobs leave behind: their parents have ended, and the spawner adopted them.

The spawner is their reaper (PID 1 or a subreaper), so every descendant of a job reaches it sooner
or later, whatever session it moved to. Its mark, process group or cgroup tells to which job it
belongs. Without any of them it may belong to any job that ran when it was first seen; it is killed
when all of those have ended.
"""

import os
import time
from collections.abc import Callable, Iterable
from functools import partial

from weft.wire.exec import MARK as COMMAND_MARK
from weft.worker.spawner import cgroups, tree
from weft.worker.spawner.attempt import SpawnerAttempt
from weft.worker.spawner.launch import MARK
from weft.worker.spawner.loop import EventLoop

_AGAIN_NS = 50_000_000
_EXEC_NS = 1_500_000_000
"""Longer than between two looks, and than any `execve`, during which there is no environment."""
_MS = 1_000_000


class _Stray:
    """A process that the spawner has adopted."""

    __slots__ = ("command", "due_ns", "owners", "pidfd", "read_until_ns")

    def __init__(self, pidfd: int, owners: set[SpawnerAttempt]) -> None:
        self.pidfd = pidfd
        self.owners = owners
        self.command: bytes | None = None
        """The mark of the command that has started it, read while it is young: it takes 20 µs."""
        self.read_until_ns = time.monotonic_ns() + _EXEC_NS
        self.due_ns: int | None = None
        """When it is killed; None: a job may still need it."""

    def command_of(self, pid: int) -> bytes | None:
        """Return of which command it is."""
        if self.command is None and time.monotonic_ns() < self.read_until_ns:
            self.command = tree.read_mark(pid, COMMAND_MARK.encode())
        return self.command


class Leftovers:
    """Find strays, ask them to end when their job has ended, kill them after the grace period."""

    def __init__(
        self, loop: EventLoop, own_children: set[int], on_clean: Callable[[SpawnerAttempt], None]
    ) -> None:
        self._loop = loop
        self._own_children = own_children
        """Processes that the spawner started for its own use."""
        self._on_clean = on_clean
        self._strays: dict[int, _Stray] = {}
        self._running: dict[int, SpawnerAttempt] = {}
        self._children = tree.Children()
        self.is_over: Callable[[bytes | None], bool] | None = None
        """Says whether a mark is of a command that has ended; None: there was no command."""
        self.behind: dict[SpawnerAttempt, None] = {}
        """Attempts of which a stray has ended since the last look: one look is for all of them."""
        self.must_look = False
        self.must_know_all = self._children.lists_all
        """Whether a process that is being started would be mistaken for a stray."""

    def look(self, running: dict[int, SpawnerAttempt], ended: Iterable[SpawnerAttempt]) -> int:
        """Take stock after these attempts ended; call `on_clean` for each that left nothing, and
        return how many processes were new.
        """
        self._running = running
        self.must_look = False
        owners = self.behind | dict.fromkeys(ended)
        self.behind = {}
        known = (running, self._strays, self._own_children)
        strangers = [
            pid
            for pid in map(int, self._children.read())
            if not any(pid in those for those in known)
        ]
        if strangers:
            self._adopt(strangers, owners)
        strays = self._strays.items()
        if self.is_over and (over := {p for p, it in strays if self.is_over(it.command_of(p))}):
            tree.kill_with_descendants(over)
        if self._strays:
            self._dismiss()
        for attempt in owners:
            if not attempt.strays:
                self._on_clean(attempt)
        return len(strangers)

    def of(self, attempt: SpawnerAttempt) -> set[int]:
        """Return the strays that can only belong to this attempt."""
        return {pid for pid, stray in self._strays.items() if stray.owners == {attempt}}

    def _adopt(self, pids: list[int], ended: Iterable[SpawnerAttempt]) -> None:
        suspects = {*self._running.values(), *ended}
        for stray in self._strays.values():
            suspects |= stray.owners
        by_mark = {_mark_of(attempt): attempt for attempt in suspects}
        by_group = {attempt.pid: attempt for attempt in suspects}
        by_cgroup = {suspect.cgroup: suspect for suspect in suspects if suspect.cgroup is not None}
        for pid in pids:
            if self._reap(pid):
                continue
            mark = (tree.read_mark(pid, MARK.encode()) or b"").partition(b"@")[0]
            process = tree.read_process(pid)
            owner = by_mark.get(mark) or (by_group.get(process.group) if process else None)
            if owner is None and by_cgroup:
                owner = by_cgroup.get(cgroups.holder_of(pid, by_cgroup) or "")
            owners = {owner} if owner is not None else set(suspects)
            for attempt in owners:
                attempt.strays += 1
            self._strays[pid] = _Stray(self._watch(pid), owners)

    def _watch(self, pid: int) -> int:
        try:
            pidfd = os.pidfd_open(pid)
        except OSError:  # too many open files: look again soon
            self._loop.at(time.monotonic_ns() + _AGAIN_NS, partial(self._on_exit, pid))
            return -1
        self._loop.watch(pidfd, partial(self._on_exit, pid))
        return pidfd

    def _on_exit(self, pid: int) -> None:
        stray = self._strays.get(pid)
        if stray is None:
            return
        if not self._reap(pid):
            if stray.pidfd < 0:
                self._loop.at(time.monotonic_ns() + _AGAIN_NS, partial(self._on_exit, pid))
            return
        del self._strays[pid]
        if stray.pidfd >= 0:
            self._loop.forget(stray.pidfd)
            os.close(stray.pidfd)
        for attempt in stray.owners:
            attempt.strays -= 1
        self.behind |= {owner: None for owner in stray.owners if owner.ended_ns}
        self.must_look = True  # its own children are ours now

    @staticmethod
    def _reap(pid: int) -> bool:
        try:
            return os.waitpid(pid, os.WNOHANG)[0] == pid
        except ChildProcessError:
            return True

    def _dismiss(self) -> None:
        """Ask the strays whose jobs have all ended to end."""
        told: set[int] = set()
        asked: set[int] = set()
        now_ns = time.monotonic_ns()
        due_first = None
        for pid, stray in self._strays.items():
            if stray.due_ns is None and all(owner.ended_ns for owner in stray.owners):
                stray.due_ns = max(
                    (self._due_of(owner, now_ns) for owner in stray.owners), default=now_ns
                )
                due_first = min(due_first or stray.due_ns, stray.due_ns)
                told.add(pid)
                asked.update(*(owner.asked for owner in stray.owners))
        if not told:
            return
        tree.ask_to_end((told | tree.descendants(tree.read_processes(), told)) - asked)
        assert due_first is not None
        if due_first <= now_ns:
            self._kill_due()
        else:
            self._loop.at(due_first, self._kill_due)

    @staticmethod
    def _due_of(owner: SpawnerAttempt, now_ns: int) -> int:
        return now_ns if owner.grace_over else owner.ended_ns + owner.request.grace_ms * _MS

    def _kill_due(self) -> None:
        """Kill the strays that are due, with all their descendants, until none is left."""
        now_ns = time.monotonic_ns()
        due = {
            pid
            for pid, stray in self._strays.items()
            if stray.due_ns is not None and stray.due_ns <= now_ns
        }
        if not due:
            later = [stray.due_ns for stray in self._strays.values() if stray.due_ns is not None]
            if later:
                self._loop.at(min(later), self._kill_due)
            return
        for owner in {owner for pid in due for owner in self._strays[pid].owners}:
            if owner.cgroup is not None:
                cgroups.kill(owner.cgroup)
        tree.kill_with_descendants(due)
        self._loop.at(now_ns + _AGAIN_NS, self._kill_due)


def _mark_of(attempt: SpawnerAttempt) -> bytes:
    key = attempt.key
    return f"b{key.batch_id}.j{key.job_id}.{key.attempt}".encode()
