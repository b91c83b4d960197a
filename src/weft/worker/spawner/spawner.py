"""The spawner: takes attempts from the agent, starts them in order, reports their ends."""

import errno
import os
import resource
import socket
import sys
import time
from collections import deque
from functools import partial
from itertools import islice
from typing import assert_never

from weft.core.states import AttemptKey, Reason
from weft.wire.spawner import (
    Abandon,
    Acknowledge,
    AgentMessage,
    Command,
    Hello,
    Kill,
    LiveProcess,
    Quit,
    Renew,
    Start,
    StartProcess,
    Welcome,
    Withdraw,
)
from weft.worker.spawner.agent_link import AgentLink
from weft.worker.spawner.attempt import Capacity, SpawnerAttempt, Taken
from weft.worker.spawner.cgroups import Cgroups
from weft.worker.spawner.execs import Execs
from weft.worker.spawner.fence import Fence
from weft.worker.spawner.launch import Launcher, NoRoom
from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.programs import CannotStart
from weft.worker.spawner.reports import KeptEnds, Reports, Segments
from weft.worker.spawner.running import Running
from weft.worker.spawner.scratch import Checkpoints, MemoryFiles, Scratch
from weft.worker.spawner.warm import Warm

_ROOM_AGAIN_NS = 50_000_000
_ROOM_TRIES = 200
_FAILURES_MAX = 1000
_PREPARED_MAX = 4


class Spawner:
    """The state of one spawner. `run` returns when the spawner is told to quit, or is given up and
    has nothing left.
    """

    def __init__(
        self,
        loop: EventLoop,
        link: AgentLink,
        *,
        logs: str,
        scratch: Scratch,
        checkpoints: Checkpoints,
        memory_files: MemoryFiles,
        cgroups: Cgroups,
        ends: str,
        incarnation: str,
        pid_namespace: bool,
        execs: socket.socket,
        uses_accounts: bool = False,
    ) -> None:
        self._loop = loop
        self._link = link
        self._scratch = scratch
        self._incarnation = incarnation
        self._pid_namespace = pid_namespace
        self._uses_accounts = uses_accounts
        self._capacity = Capacity()
        self._attempts: dict[AttemptKey, SpawnerAttempt] = {}
        """The attempts that wait or run."""
        self._queue: deque[SpawnerAttempt] = deque()
        self._passing: deque[SpawnerAttempt] = deque()
        """Those that may start before what waits in the queue."""
        self._queue_length = 0
        self._fence = Fence(loop, self._kill_all)
        self._room_tries = 0
        self._wait_for_room_until_ns = 0
        self._trash_emptied = 0
        self._reports = Reports(Segments(logs), link, KeptEnds(ends, incarnation))
        self._launcher = Launcher(scratch, checkpoints, memory_files, cgroups, incarnation)
        self.running = Running(
            loop,
            self._launcher,
            self._reports,
            logs,
            on_start_failed=self._on_start_failed,
            on_free=self._on_free,
            on_end=self._on_end,
        )
        self.execs = Execs(
            loop, execs, self._launcher, self.running, os.path.basename(logs), self._attempts.get
        )
        self._warm = Warm(loop, self._launcher, self.running, scratch, logs)
        self._remover = 0
        """The id of the process that empties the trash; 0: none."""
        self._is_abandoned = False
        self.quitting = False
        link.on_message = self._on_message
        link.on_gone = self._reports.forget_unsent

    def run(self) -> None:
        """Serve until `quitting` is set by a `Quit` or from outside."""
        failures = 0
        while not self.quitting:
            try:
                self._turn()
            except Exception as error:  # the outermost handler: jobs must not die of one defect
                sys.excepthook(type(error), error, error.__traceback__)
                failures += 1
                if failures > _FAILURES_MAX:
                    raise
        self.running.finish_starts()

    def _turn(self) -> None:
        self._loop.turn(self._due_ns())
        if self._queue_length:
            self._start_what_fits()
        self.running.settle()
        if self._queue_length:
            self._prepare_next()
        busy = self._queue_length > 0
        due_ns = self._reports.due_ns(busy=busy)
        if due_ns is not None and due_ns <= time.monotonic_ns():
            self._reports.settle(busy=busy)
        if self._scratch.trash_count != self._trash_emptied and not self._remover:
            self._empty_trash()
        if self._is_alone() and not self._attempts:
            sys.stderr.write("spawner: it has no agent, and nothing is left: it exits\n")
            self.quitting = True

    def _is_alone(self) -> bool:
        """Say whether nobody comes to be told of an end: the agent gave up for good, or was killed
        and none has come while the fence held. The database may have been away all the while, so a
        killed one's successor is still told what it does not know.
        """
        if self._fence.has_expired:
            untold = bool(self._reports.unacknowledged)
            return self._is_abandoned or not (untold or self._link.has_agent)
        return self._is_abandoned and not self._reports.unacknowledged

    def _due_ns(self) -> int | None:
        dues = (self.running.due_ns(), self._reports.due_ns(busy=self._queue_length > 0))
        return min((due for due in dues if due is not None), default=None)

    def _on_message(self, message: AgentMessage) -> None:
        match message:
            case Hello():
                self._welcome(message)
            case Start():
                for request in message.processes:
                    self._enqueue(request, message)
                if self._fence.has_expired:
                    self._kill_all()
            case Kill():
                self._kill(message)
            case Command():
                attempt = self._attempts.get(message.key)
                refusal = (
                    "it had ended" if attempt is None else self.running.obey(attempt, message)
                )
                self._reports.add_obeyed(message.number, refusal)
            case Withdraw():
                self._withdraw(message.keys)
            case Acknowledge():
                self._reports.acknowledge(message.keys)
            case Renew():
                self._fence.renew(message)
            case Quit():
                self.quitting = True
            case Abandon():
                self._is_abandoned = True
                self._link.drop()
            case _:
                assert_never(message)

    def _welcome(self, hello: Hello) -> None:
        self._is_abandoned = False
        self._capacity.resize(hello.cpu_m, hello.memory_mib, hello.gpus)
        self._warm.limits = hello.warm
        self.running.samples.limit(period_ms=hello.sample_ms, count_max=hello.samples_max)
        self.running.finish_starts()
        self.running.finish_exited()
        self.running.keep_what_ended()
        self._reports.store()
        self._reports.forget_unsent()
        queued = [attempt.key for attempt in (*self._queue, *self._passing) if attempt.queued]
        live = [
            LiveProcess(attempt.key, attempt.pid, attempt.started_ns)
            for attempt in self.running.by_pid.values()
        ]
        ended = list(self._reports.unacknowledged.values())
        self._link.send(
            Welcome(
                self._incarnation,
                self._pid_namespace,
                queued,
                live,
                ended,
                uses_accounts=self._uses_accounts,
            )
        )

    def _enqueue(self, request: StartProcess, message: Start) -> None:
        key = request.key
        if key in self._attempts or key in self._reports.unacknowledged:
            return
        environment = message.environments[request.environment] if message.environments else {}
        attempt = SpawnerAttempt(request, environment)
        if request.warm is not None and request.warm.definition is not None:
            attempt.definition = message.definitions[request.warm.definition]
        attempt.gpu_variables = self._capacity.variables()
        self._attempts[key] = attempt
        self._queue_of(attempt).append(attempt)
        self._queue_length += 1

    def _queue_of(self, attempt: SpawnerAttempt) -> deque[SpawnerAttempt]:
        return self._passing if attempt.request.passes else self._queue

    def _start_what_fits(self) -> None:
        """Start from the head of each queue while there is room, strictly in order."""
        self._start_first(self._queue)
        if self._passing:
            self._start_first(self._passing)

    def _start_first(self, queue: deque[SpawnerAttempt]) -> None:
        while queue and self._wait_for_room_until_ns <= time.monotonic_ns() and self._fence.holds:
            attempt = queue[0]
            if not attempt.queued:
                queue.popleft()
                continue
            request = attempt.request
            taken = self._capacity.take(request.cpu_m, request.memory_mib, request.gpu)
            if taken is None:
                return
            attempt.taken = taken
            if taken.gpus:
                attempt.gpu_variables = self._capacity.variables(taken.gpus)
            attempt.queued = False
            self._queue_length -= 1
            queue.popleft()
            self._start(attempt)
            self._warm.free(self._capacity.memory_mib_free)

    def _start(self, attempt: SpawnerAttempt) -> None:
        request = attempt.request
        try:
            _check_gpus(attempt)
            if request.warm is not None:
                self._warm.start(attempt)
            elif is_process(attempt):
                self.running.start(attempt)
            else:
                attempt.started_ns = time.monotonic_ns()
                attempt.exit_code = 0
                self._end_unstarted(attempt)
        except Exception as error:  # noqa: BLE001 (outermost handler: one job must not end all)
            self._on_start_failed(attempt, error)

    def _prepare_next(self) -> None:
        """Prepare the first attempts of the queue, so that no core waits for that later."""
        for attempt in islice(self._queue, _PREPARED_MAX):
            # Which GPUs it gets is known at its start.
            is_known = not attempt.request.gpu and is_process(attempt)
            if attempt.queued and attempt.prepared is None and is_known:
                try:
                    self.running.prepare(attempt)
                except Exception:  # noqa: BLE001 (raised again and reported at the start)
                    return

    def _on_start_failed(self, attempt: SpawnerAttempt, error: Exception) -> None:
        """Put the attempt back at the head of the queue, or end it."""
        if attempt.kill_wanted is not None:
            attempt.killed_for = attempt.kill_wanted[0]
        elif isinstance(error, NoRoom) and self._comes_room():
            self._capacity.give_back(attempt.taken)
            attempt.queued = True
            self._queue_length += 1
            self._queue_of(attempt).appendleft(attempt)
            return
        else:
            _note_failure(attempt, error)
        self._end_unstarted(attempt)

    def _end_unstarted(self, attempt: SpawnerAttempt) -> None:
        attempt.ended_ns = time.monotonic_ns()
        self._on_free(attempt)
        self._on_end(attempt)

    def _comes_room(self) -> bool:
        """Say whether to wait: until a running job ends, or up to a limit if nothing runs."""
        raise_file_limit()
        self._room_tries = self._room_tries + 1 if self.running.is_idle else 0
        if self._room_tries > _ROOM_TRIES:
            return False
        self._wait_for_room_until_ns = time.monotonic_ns() + _ROOM_AGAIN_NS
        self._loop.at(self._wait_for_room_until_ns, lambda: None)  # it only wakes the loop
        return True

    def _on_free(self, attempt: SpawnerAttempt) -> None:
        self._capacity.give_back(attempt.taken)

    def _on_end(self, attempt: SpawnerAttempt) -> None:
        self._attempts.pop(attempt.key, None)
        self.execs.end_with(attempt)
        self._reports.add_end(attempt)

    def _kill(self, message: Kill) -> None:
        running = []
        for key in dict.fromkeys(message.keys):  # nobody is asked twice
            attempt = self._attempts.get(key)
            if attempt is None:
                continue
            if attempt.queued:
                self._unqueue(attempt)
                attempt.killed_for = message.reason
                self._end_unstarted(attempt)
            else:
                running.append(attempt)
        self.running.kill(running, message.reason, message.grace_ms)

    def _withdraw(self, keys: list[AttemptKey]) -> None:
        for key in keys:
            attempt = self._attempts.get(key)
            if attempt is not None and attempt.queued:
                self._unqueue(attempt)
                del self._attempts[key]
                self._reports.add_withdrawn(key)

    def _kill_all(self) -> None:
        """Kill all jobs: the database has not confirmed this worker for too long."""
        sys.stderr.write("spawner: not renewed in time, all jobs are killed\n")
        self._kill(Kill(list(self._attempts), Reason.LOST, 0))

    def _unqueue(self, attempt: SpawnerAttempt) -> None:
        self.running.discard(attempt)
        attempt.queued = False
        attempt.taken = Taken()
        self._queue_length -= 1

    def _empty_trash(self) -> None:
        """Remove large leftovers of jobs without blocking the loop."""
        self._trash_emptied = self._scratch.trash_count
        names = [f"{self._scratch.trash}/{name}" for name in os.listdir(self._scratch.trash)]
        if not names:
            return
        try:
            pid = os.posix_spawn("/bin/rm", ("rm", "-rf", "--", *names[:1000]), {}, setpgroup=0)
            pidfd = os.pidfd_open(pid)
        except OSError:
            return
        self._remover = pid
        self.running.own_children.add(pid)
        self._loop.watch(pidfd, partial(self._on_trash_emptied, pid, pidfd))

    def _on_trash_emptied(self, pid: int, pidfd: int) -> None:
        if self._remover == pid and os.waitpid(pid, os.WNOHANG)[0] == pid:
            self._remover = 0
            self.running.own_children.discard(pid)
            self._loop.forget(pidfd)
            os.close(pidfd)


def is_process(attempt: SpawnerAttempt) -> bool:
    """Say whether the attempt needs its own process; one without a program ends at once."""
    request = attempt.request
    return request.warm is None and bool(request.argv or request.script is not None)


def _check_gpus(attempt: SpawnerAttempt) -> None:
    if attempt.request.gpu > len(attempt.taken.gpus):
        raise CannotStart(Reason.SYSTEM, "the worker has fewer GPUs than the job asks for")


def _note_failure(attempt: SpawnerAttempt, error: Exception) -> None:
    """Note why the attempt could not be started."""
    if isinstance(error, CannotStart):
        attempt.failure, attempt.message = error.reason, error.message
        return
    attempt.failure, attempt.message = Reason.SYSTEM, f"{type(error).__name__}: {error}"
    if isinstance(error, NoRoom):
        attempt.message = f"no room for a process: {error}"
    else:
        sys.excepthook(type(error), error, error.__traceback__)


def raise_file_limit() -> None:
    """Double the soft limit of open files as far as the hard limit allows.

    Only when needed: jobs inherit the limit, and a high one breaks some old programs.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = soft * 2 if hard == resource.RLIM_INFINITY else min(soft * 2, hard)
    if wanted > soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except OSError as error:
            sys.stderr.write(
                f"spawner: cannot open more files: {os.strerror(error.errno or errno.EMFILE)}\n"
            )
