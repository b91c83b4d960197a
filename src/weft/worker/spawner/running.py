"""The running processes: their starts, time limits and ends.

The pipes of processes: watched, read into the outputs of attempts, and closed.
"""

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from weft.core.states import Reason
from weft.wire.log_format import STDERR, STDOUT
from weft.wire.spawner import Command, LiveProcess
from weft.worker.spawner import cgroups, sandboxed, tree
from weft.worker.spawner.attempt import SpawnerAttempt
from weft.worker.spawner.cgroups import OomKills
from weft.worker.spawner.launch import Launcher
from weft.worker.spawner.leftovers import Leftovers
from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.output import Output, output_path
from weft.worker.spawner.posix_spawn import read_why
from weft.worker.spawner.prepared import Prepared, StartedProcess, Starter
from weft.worker.spawner.reports import Reports, fail_for_disk
from weft.worker.spawner.tree import Samples

# More than a pipe holds, unless the job enlarged it: one read at the end returns everything.
_READ_BYTES = 128 * 1024
_END_READS_MAX = 64


class Streams:
    """One buffer for all reads. `on_disk_full` gets the attempts whose output cannot be kept."""

    def __init__(
        self, loop: EventLoop, logs: str, on_disk_full: Callable[[SpawnerAttempt, OSError], None]
    ) -> None:
        self._loop = loop
        self._logs = logs
        self._on_disk_full = on_disk_full
        self._buffer = bytearray(_READ_BYTES)
        self._view = memoryview(self._buffer)

    def watch(self, attempt: SpawnerAttempt) -> None:
        """Read the pipes of an attempt whenever they hold something; close them at their ends."""
        attempt.watched = True
        self._loop.watch(attempt.stdout_fd, partial(self._on_readable, attempt, STDOUT))
        self._loop.watch(attempt.stderr_fd, partial(self._on_readable, attempt, STDERR))

    def close(self, attempt: SpawnerAttempt) -> None:
        """Close those pipes of an attempt that are open."""
        self._close(attempt, STDOUT)
        self._close(attempt, STDERR)

    def _on_readable(self, attempt: SpawnerAttempt, kind: int) -> None:
        fd = attempt.stdout_fd if kind == STDOUT else attempt.stderr_fd
        if fd >= 0 and self.read(attempt, kind, fd) == 0:
            self._close(attempt, kind)

    def _close(self, attempt: SpawnerAttempt, kind: int) -> None:
        fd = attempt.stdout_fd if kind == STDOUT else attempt.stderr_fd
        if fd < 0:
            return
        if attempt.watched:
            self._loop.forget(fd)
        os.close(fd)
        if kind == STDOUT:
            attempt.stdout_fd = -1
        else:
            attempt.stderr_fd = -1

    def read(self, attempt: SpawnerAttempt | None, kind: int, fd: int) -> int | None:
        """Read once. Return the number of bytes, 0 at the end of the stream, None if none wait.

        Without an attempt, or after its end, the bytes are dropped.
        """
        try:
            count = os.readv(fd, (self._buffer,))
        except BlockingIOError:
            return None
        if count and attempt is not None and not attempt.output_complete:
            self._keep(attempt, kind, bytes(self._view[:count]))
        return count

    def read_rest(self, attempt: SpawnerAttempt, stdout_fd: int, stderr_fd: int) -> None:
        """Read what is in the pipes now, without waiting for other processes that hold them."""
        for kind, fd in ((STDOUT, stdout_fd), (STDERR, stderr_fd)):
            if fd >= 0:
                for _ in range(_END_READS_MAX):
                    count = self.read(attempt, kind, fd)
                    if count is None or count < _READ_BYTES:
                        break

    @staticmethod
    def finish(attempt: SpawnerAttempt) -> None:
        """Complete the output: what comes later is dropped."""
        attempt.output_complete = True
        if attempt.output is not None and not attempt.output.is_short:
            try:
                attempt.output.finish()
            except OSError as error:
                fail_for_disk(attempt, error)

    def _keep(self, attempt: SpawnerAttempt, kind: int, data: bytes) -> None:
        output = attempt.output
        request = attempt.request
        if output is None:
            key = attempt.key
            output = attempt.output = Output(
                output_path(self._logs, key.batch_id, key.job_id, key.attempt),
                attempt.started_ns,
                bytes_max=request.stream_bytes_max,
                head_bytes=request.stream_head_bytes,
                errors_in=STDOUT if request.merged else STDERR,
            )
        was_due = output.flush_due_ns
        try:
            output.add(kind, data, time.monotonic_ns())
        except OSError as error:
            self._on_disk_full(attempt, error)
            return
        if output.flush_due_ns is not None and was_due is None:
            self._loop.at(output.flush_due_ns, partial(self._flush, attempt))

    def _flush(self, attempt: SpawnerAttempt) -> None:
        """Store output that is 200 ms old. `Reports` stores the output of ended attempts."""
        output = attempt.output
        if output is None or output.flush_due_ns is None or attempt.ended_ns:
            return
        if output.flush_due_ns > time.monotonic_ns():
            self._loop.at(output.flush_due_ns, partial(self._flush, attempt))
            return
        try:
            output.flush()
        except OSError as error:
            self._on_disk_full(attempt, error)


_MS = 1_000_000
_SHELL_SAYS_KILLED = 128 + signal.SIGKILL
"""The exit code of a shell whose last command was killed."""
_HOST_FULL = "killed by the kernel because the memory was used up"
# Most processes are short: their output is read when they end. The streams are watched only for
# those that live longer; until then a pipe holds 64 KiB.
_WATCH_AFTER_NS = 3 * _MS
_TELL_AFTER_NS = 25 * _MS
_LOOK_NS, _LOOK_SOON_NS = 1_000 * _MS, 50 * _MS
_MANY = 32
"""New orphans after which it is looked soon: until then those that ended count as processes."""
_START_THREADS = 4
"""More parallel starts only wait for kernel locks."""


class Running:
    """All live processes, by process id."""

    def __init__(
        self,
        loop: EventLoop,
        launcher: Launcher,
        reports: Reports,
        logs: str,
        *,
        on_start_failed: Callable[[SpawnerAttempt, Exception], None],
        on_free: Callable[[SpawnerAttempt], None],
        on_end: Callable[[SpawnerAttempt], None],
    ) -> None:
        self._loop = loop
        self._starter: Starter[StartedProcess] = Starter(loop, threads=_START_THREADS)
        self._launcher = launcher
        self._reports = reports
        self._on_start_failed = on_start_failed
        self._on_free = on_free
        self._on_end = on_end
        self.streams = Streams(loop, logs, self._fail_for_disk)
        self._to_watch: deque[SpawnerAttempt] = deque()
        self._to_tell: deque[SpawnerAttempt] = deque()
        self._exited: deque[SpawnerAttempt] = deque()
        self._ended: list[SpawnerAttempt] = []
        self._oom_kills = OomKills()
        self.own_children: set[int] = set()
        self.look_ns = 0
        """When to look for orphans that have ended, at the latest, while attempts run."""
        self.by_pid: dict[int, SpawnerAttempt] = {}
        self.samples = Samples(loop, logs, self.by_pid)
        self.leftovers = Leftovers(loop, self.own_children, self._clean)

    def prepare(self, attempt: SpawnerAttempt) -> None:
        """Prepare a start before there is room for it. Raises the same as `Launcher.prepare`."""
        attempt.prepared = self._launcher.prepare(attempt)

    def discard(self, attempt: SpawnerAttempt) -> None:
        """Undo `prepare`: the attempt is not started after all."""
        if attempt.prepared is not None:
            self._launcher.discard(attempt, attempt.prepared)
            attempt.prepared = None

    def start(self, attempt: SpawnerAttempt) -> None:
        """Begin to start a process. Raises the same as `Launcher.prepare`; later failures go to
        `on_start_failed`.
        """
        prepared = attempt.prepared or self._launcher.prepare(attempt)
        attempt.prepared = None
        attempt.starting = True
        self._starter.begin(
            prepared.run,
            partial(self._on_started, attempt, prepared),
            sets_umask=prepared.umask is not None,
        )

    def finish_starts(self) -> None:
        """Wait some milliseconds for the processes that are being started."""
        self._starter.finish()

    @property
    def is_idle(self) -> bool:
        """Say whether nothing runs and nothing is being started."""
        return not self.by_pid and not self._starter.count

    def _on_started(
        self, attempt: SpawnerAttempt, prepared: Prepared, started: StartedProcess | Exception
    ) -> None:
        attempt.starting = False
        try:
            self._launcher.finish(attempt, prepared, started)
        except Exception as error:  # noqa: BLE001 (the spawner decides what becomes of it)
            self._on_start_failed(attempt, error)
            return
        self._loop.watch(attempt.pidfd, partial(self._on_exit, attempt))
        self._to_watch.append(attempt)
        self.add(attempt)
        if attempt.kill_wanted is not None:
            self.kill([attempt], *attempt.kill_wanted)

    def add(self, attempt: SpawnerAttempt) -> None:
        """Add an attempt that runs now, in its own process or in a warm one."""
        self.by_pid[attempt.pid] = attempt
        self._to_tell.append(attempt)
        self._limit(attempt)

    def _limit(self, attempt: SpawnerAttempt) -> None:
        if attempt.request.timeout_ms is not None:
            due_ns = attempt.started_ns + (attempt.request.timeout_ms + attempt.extra_ms) * _MS
            attempt.time_limit = self._loop.at(due_ns, partial(self._time_out, attempt))

    def obey(self, attempt: SpawnerAttempt, command: Command) -> str:
        """Do what a command says; return why not, or nothing."""
        if attempt.killed_for is not None or attempt.kill_wanted is not None:
            return "it is being stopped"
        if command.signal is None:
            attempt.extra_ms = command.extra_ms
            if attempt.time_limit is not None:
                self._loop.cancel(attempt.time_limit)
                self._limit(attempt)
            return "" if attempt.request.timeout_ms is not None else "it has no time limit"
        if not attempt.pid:
            return "it has not started"
        if attempt.ended_ns or _has_ended(attempt.pid):
            return "it had ended"
        pid = attempt.pid
        if attempt.request.sandbox is not None and not (pid := sandboxed.first_of(attempt)):
            return "it has not started"
        tree.send(pid, command.signal)
        return ""

    def end(self, attempt: SpawnerAttempt) -> None:
        """Note the end of an attempt whose output is complete."""
        self._free(attempt)
        self._launcher.keep_checkpoint(attempt)
        self._finish(attempt)

    def _free(self, attempt: SpawnerAttempt) -> None:
        """Free the room of an attempt that has ended, so that another one may run."""
        attempt.ended_ns = attempt.ended_ns or time.monotonic_ns()
        del self.by_pid[attempt.pid]
        self._on_free(attempt)

    def _finish(self, attempt: SpawnerAttempt) -> None:
        """Report an attempt about which everything is known."""
        if attempt.time_limit is not None:
            self._loop.cancel(attempt.time_limit)
        self._on_end(attempt)

    def look_behind(self, ended: list[SpawnerAttempt]) -> None:
        """Look soon for processes that these attempts have left, then clean up."""
        self._ended += ended

    def take_status(self, attempt: SpawnerAttempt, status: int) -> None:
        """Note how the attempt's process ended."""
        code = os.waitstatus_to_exitcode(status)
        if code >= 0:
            attempt.exit_code = code
        else:
            attempt.signal = -code
        if code in {-signal.SIGKILL, _SHELL_SAYS_KILLED}:
            self._ask_for_oom(attempt)

    def kill(self, attempts: Sequence[SpawnerAttempt], reason: int, grace_ms: int) -> None:
        """Ask running attempts to end; after the grace period kill all their processes.

        They are asked once: a repeated kill can only shorten the grace. The table of processes is
        read once for all: with a thousand of them each reading takes tens of milliseconds.
        """
        due_ns = time.monotonic_ns() + grace_ms * _MS
        to_kill = [one for one in attempts if self._begins_kill(one, reason, grace_ms, due_ns)]
        if not to_kill:
            return
        self._look_for_leftovers(())
        to_ask = [one for one in to_kill if grace_ms > 0 and not one.kill_due_ns]
        if to_ask:
            table = tree.read_processes()
            for attempt in to_ask:
                self._ask_to_end(attempt, table)
        without_job = [one for one in to_ask if one.request.sandbox is not None and not one.asked]
        for attempt in to_kill:
            attempt.kill_due_ns = due_ns
        for attempt in without_job:
            attempt.kill_due_ns = due_ns - grace_ms * _MS
        if grace_ms > 0:
            self._loop.at(due_ns, partial(self._kill_now, to_kill))
        self._kill_now(without_job if grace_ms > 0 else to_kill)

    def _begins_kill(
        self, attempt: SpawnerAttempt, reason: int, grace_ms: int, due_ns: int
    ) -> bool:
        """Note why a running attempt is killed; say whether that is to be sooner than so far."""
        if attempt.starting:
            known_reason, known_ms = attempt.kill_wanted or (reason, grace_ms)
            attempt.kill_wanted = (known_reason, min(known_ms, grace_ms))
            return False
        if attempt.ended_ns or _has_ended(attempt.pid):
            return False
        if attempt.killed_for is None:
            attempt.killed_for = reason
        return not attempt.kill_due_ns or attempt.kill_due_ns > due_ns

    def _ask_to_end(self, attempt: SpawnerAttempt, table: Mapping[int, tree.Process]) -> None:
        if attempt.request.sandbox is not None:
            attempt.asked = sandboxed.processes_of(attempt, table)
            if not attempt.asked:  # it may have begun since
                attempt.asked = sandboxed.processes_of(attempt, tree.read_processes())
            tree.ask_to_end(attempt.asked)
            return
        others = self._others_of(attempt, table)
        attempt.asked = others | {pid for pid, one in table.items() if one.group == attempt.pid}
        tree.send_group(attempt.pid, signal.SIGTERM)
        tree.send_group(attempt.pid, signal.SIGCONT)
        tree.ask_to_end(others)

    def due_ns(self) -> int | None:
        """Return when `settle` must be called next; None: not before something ends."""
        due_ns = self.look_ns if self.by_pid or self.own_children else None
        for line, after_ns in ((self._to_watch, _WATCH_AFTER_NS), (self._to_tell, _TELL_AFTER_NS)):
            while line and line[0].ended_ns:
                line.popleft()
            if line:
                line_due_ns = line[0].started_ns + after_ns
                due_ns = line_due_ns if due_ns is None else min(due_ns, line_due_ns)
        return due_ns

    def settle(self) -> None:
        """Finish the turn: watch the processes that live on, clean up behind the others."""
        self.finish_exited()
        now_ns = time.monotonic_ns()
        while self._to_watch and self._to_watch[0].started_ns + _WATCH_AFTER_NS <= now_ns:
            attempt = self._to_watch.popleft()
            if not attempt.ended_ns:
                self.streams.watch(attempt)
        while self._to_tell and self._to_tell[0].started_ns + _TELL_AFTER_NS <= now_ns:
            attempt = self._to_tell.popleft()
            if not attempt.ended_ns:
                self._launcher.note_checkpoint(attempt)
                self.samples.note(attempt)
                self._reports.add_start(LiveProcess(attempt.key, attempt.pid, attempt.started_ns))
        if self._ended or self.leftovers.must_look or self.look_ns <= now_ns:
            ended, self._ended = self._ended, []
            n_new = self._look_for_leftovers(ended)
            self.look_ns = now_ns + (_LOOK_SOON_NS if n_new > _MANY else _LOOK_NS)

    def _look_for_leftovers(self, ended: Sequence[SpawnerAttempt]) -> int:
        if self.leftovers.must_know_all:
            self.finish_starts()
        n_new = self.leftovers.look(self.by_pid, ended)
        for attempt in ended:
            # What is not cleaned up yet is kept before this turn's reports of ends are sent: the
            # next attempt may begin then.
            self._launcher.keep_checkpoint(attempt)
            # A process that is asked to end may print while it cleans up; without a reader,
            # SIGPIPE would kill it.
            if attempt.strays and not attempt.watched:
                self.streams.watch(attempt)
        return n_new

    def _clean(self, attempt: SpawnerAttempt) -> None:
        """Clean up behind an attempt that has left nothing."""
        if attempt.output_complete:
            self.streams.close(attempt)
        self._launcher.clean(attempt)

    def _fail_for_disk(self, attempt: SpawnerAttempt, error: OSError) -> None:
        fail_for_disk(attempt, error)
        self.kill([attempt], Reason.DISK, attempt.request.grace_ms)

    def _on_exit(self, attempt: SpawnerAttempt) -> None:
        if attempt.ended_ns:
            return
        pid, status, usage = os.wait4(attempt.pid, os.WNOHANG)
        if pid == 0:
            return
        self.take_status(attempt, status)
        attempt.cpu_ms = int((usage.ru_utime + usage.ru_stime) * 1000 + 0.5)
        attempt.memory_peak_bytes = usage.ru_maxrss * 1024
        self._free(attempt)
        why = read_why(attempt.why_fd) if attempt.why_fd >= 0 else None
        if why is not None and attempt.killed_for is None:
            attempt.failure, attempt.message = why.reason, why.message
            if attempt.ended_ns - attempt.started_ns < _TELL_AFTER_NS:
                attempt.started_ns = 0  # its start is unreported
        self._exited.append(attempt)

    def keep_what_ended(self) -> None:
        """Keep what attempts have left that are not cleaned up yet: their ends are told now, and
        the next attempt may begin.
        """
        for attempt in self._ended:
            self._launcher.keep_checkpoint(attempt)

    def finish_exited(self) -> None:
        """Read the remaining output of attempts whose processes have ended, and report them.

        Not at once: first the next processes are started, so that no core is idle.
        """
        while self._exited:
            attempt = self._exited.popleft()
            self._loop.forget(attempt.pidfd)
            os.close(attempt.pidfd)
            attempt.pidfd = -1
            self.streams.read_rest(attempt, attempt.stdout_fd, attempt.stderr_fd)
            self.streams.finish(attempt)
            self.look_behind([attempt])
            self._finish(attempt)

    def _time_out(self, attempt: SpawnerAttempt) -> None:
        self.kill([attempt], Reason.TIMEOUT, attempt.request.grace_ms)

    def _kill_now(self, attempts: Sequence[SpawnerAttempt]) -> None:
        """Kill all processes of attempts: their groups, descendants, and strays."""
        for attempt in attempts:
            attempt.grace_over = True
        alive = [one for one in attempts if not one.ended_ns]
        if not alive:
            return
        table = tree.read_processes()
        for attempt in alive:
            others = self._others_of(attempt, table)
            if attempt.cgroup is not None:
                cgroups.kill(attempt.cgroup)
            tree.send_group(attempt.pid, signal.SIGKILL)
            tree.send(attempt.pid, signal.SIGKILL)
            for pid in others:
                tree.send(pid, signal.SIGKILL)

    def _others_of(self, attempt: SpawnerAttempt, table: Mapping[int, tree.Process]) -> set[int]:
        """Return the attempt's processes that have left its process group."""
        roots = {attempt.pid, *self.leftovers.of(attempt)}
        found = tree.descendants(table, roots) | roots
        return {pid for pid in found if pid in table and table[pid].group != attempt.pid}

    def _ask_for_oom(self, attempt: SpawnerAttempt) -> None:
        """Note that the kernel killed the attempt for lack of memory, if it did."""
        if attempt.killed_for is not None:
            return
        why = _HOST_FULL if self._oom_kills.take_one(time.monotonic_ns()) else ""
        if attempt.cgroup is not None:
            known = cgroups.why_killed(attempt.cgroup)
            why = why if known is None else known
        if why:
            attempt.killed_for, attempt.message = Reason.OOM, why


def _has_ended(pid: int) -> bool:
    """Say whether the process has ended and is not reaped yet: then nobody killed it."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
