"""Warm processes: Python interpreters that serve the calls of one batch, one after another.

A process serves one batch, one program and one environment all its life. It is not reused after a
call that was killed or left processes behind, when it holds too much memory, or when it has served
its maximum number of calls. Idle processes end after a while, or when jobs need the memory.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field
from functools import partial

import msgspec

from weft.core.states import Reason
from weft.wire.function import DONE_BYTES_MAX, HEADER, CallDone, FunctionCall
from weft.wire.log_format import STDERR, STDOUT
from weft.wire.plain_files import open_plain
from weft.wire.spawner import WarmLimits
from weft.worker.private_files import write_all
from weft.worker.spawner import tree
from weft.worker.spawner.attempt import SpawnerAttempt
from weft.worker.spawner.launch import Launcher
from weft.worker.spawner.loop import EventLoop, LoopTimer
from weft.worker.spawner.output import output_path
from weft.worker.spawner.prepared import Spawned
from weft.worker.spawner.reports import fail_for_disk
from weft.worker.spawner.running import Running
from weft.worker.spawner.scratch import Scratch

Key = tuple[int, tuple[str, ...], tuple[tuple[str, str], ...]]
"""Batch, program and environment: only jobs that share all of them share a process."""

_READ_BYTES = 1 << 16
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(CallDone)


class Unreadable(Exception):
    """The process sent an invalid message: its job has written to our socket."""


@dataclass(eq=False, slots=True)
class WarmProcess:
    """A live process. It serves one attempt at a time."""

    loop: EventLoop
    key: Key
    spawned: InitVar[Spawned]
    control: socket.socket
    pid: int = field(init=False)
    pidfd: int = field(init=False)
    stdout_fd: int = field(init=False)
    stderr_fd: int = field(init=False)
    attempt: SpawnerAttempt | None = None
    left: list[SpawnerAttempt] = field(default_factory=list)
    """Ended attempts that left processes behind, which end with this process."""
    definitions: set[int] = field(default_factory=set)
    """The definitions that it was sent."""
    calls: int = 0
    memory_mib: int = 0
    idle_since_ns: int = 0
    is_worn: bool = False
    """True: the process serves no further attempt."""
    _buffer: bytearray = field(default_factory=bytearray)
    _waiting: bytes = b""
    _waits_for_room: bool = False

    def __post_init__(self, spawned: Spawned) -> None:
        self.pid, self.pidfd, self.stdout_fd, self.stderr_fd = spawned

    def send(self, call: FunctionCall) -> bool:
        """Send a call; the socket may take the rest later. False: the process is gone."""
        body = _ENCODER.encode(call)
        self._waiting = HEADER.pack(len(body)) + body
        return self.write()

    def write(self) -> bool:
        """Write the waiting bytes. False: the process is gone."""
        if not self._waiting:
            return True
        try:
            sent = self.control.send(self._waiting, socket.MSG_NOSIGNAL)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._waiting = b""
            return False
        self._waiting = self._waiting[sent:]
        if bool(self._waiting) != self._waits_for_room:
            self._waits_for_room = bool(self._waiting)
            self.loop.watch_writes(self.control.fileno(), wanted=self._waits_for_room)
        return True

    def receive(self) -> list[CallDone]:
        """Return its messages. Raise `Unreadable` if one is invalid."""
        while True:
            try:
                data = self.control.recv(_READ_BYTES)
            except OSError:
                break
            self._buffer += data
            if len(data) < _READ_BYTES:
                break
        dones: list[CallDone] = []
        while len(self._buffer) >= HEADER.size:
            (length,) = HEADER.unpack_from(self._buffer)
            if length > DONE_BYTES_MAX:
                raise Unreadable(f"a message of {length} bytes")
            end = HEADER.size + length
            if len(self._buffer) < end:
                break
            try:
                dones.append(_DECODER.decode(self._buffer[HEADER.size : end]))
            except msgspec.MsgspecError as error:
                raise Unreadable(str(error)) from error
            del self._buffer[:end]
        return dones

    def close(self) -> None:
        """Close all descriptors except the one that signals its end."""
        for fd in (self.stdout_fd, self.stderr_fd):
            if fd >= 0:
                self.loop.forget(fd)
                os.close(fd)
        self.stdout_fd = self.stderr_fd = -1
        self.dismiss()

    def dismiss(self) -> bool:
        """Close the socket: then the process ends by itself. False: it was closed already."""
        if self.control.fileno() < 0:
            return False
        self.loop.forget(self.control.fileno())
        self.control.close()
        return True


_MS = 1_000_000
_MIB = 1 << 20
_END_WITHIN_NS = 5_000_000_000
_DEFINITIONS_MAX = 256
_IDLE_MAX = 64
_RESULT_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class Warm:
    """All warm processes of this spawner."""

    def __init__(
        self, loop: EventLoop, launcher: Launcher, running: Running, scratch: Scratch, logs: str
    ) -> None:
        self._loop = loop
        self._launcher = launcher
        self._running = running
        self._scratch = scratch
        self._logs = logs
        self._idle: dict[Key, list[WarmProcess]] = {}
        self._idle_timer: LoopTimer | None = None
        self._idle_count = 0
        self._last_environment: tuple[dict[str, str], tuple[tuple[str, str], ...]] = ({}, ())
        self.limits = WarmLimits()
        self.idle_mib = 0
        """The memory that idle processes hold."""

    def start(self, attempt: SpawnerAttempt) -> None:
        """Call a function in a warm process. Raises what `Launcher.start` raises."""
        request = attempt.request
        assert request.warm is not None
        if request.cwd is None:
            attempt.cwd = self._scratch.take_directory()
        attempt.started_ns = time.monotonic_ns()
        try:
            process = self._hand_over(attempt)
        except BaseException:
            self._launcher.clean(attempt)
            attempt.started_ns = 0
            raise
        process.attempt = attempt
        process.calls += 1
        attempt.pid = process.pid
        self._running.own_children.discard(process.pid)
        self._running.add(attempt)

    def free(self, mib: int) -> None:
        """End idle processes, oldest first, until they hold no more than this."""
        while self.idle_mib > mib and self._idle_count:
            self._retire_oldest()

    def _hand_over(self, attempt: SpawnerAttempt) -> WarmProcess:
        """Send the call to an idle process, else to a new one."""
        key = self._key_of(attempt)
        definition_id, definition = attempt.definition or (0, None)
        while True:
            environment = {**attempt.environment, **attempt.gpu_variables}
            process = self._take_idle(key) or self._launch(key, environment)
            is_known = definition_id in process.definitions
            call = self._call_of(attempt, definition_id, None if is_known else definition)
            if process.send(call):
                process.definitions.add(definition_id)
                return process

    def _key_of(self, attempt: SpawnerAttempt) -> Key:
        """Return the key of its process. Jobs of one message share one environment object."""
        last, environment = self._last_environment
        if last is not attempt.environment:
            environment = tuple(sorted(attempt.environment.items()))
            self._last_environment = attempt.environment, environment
        if attempt.taken.gpus:
            environment = (*environment, *attempt.gpu_variables.items())
        return attempt.key.batch_id, attempt.request.argv, environment

    def _call_of(
        self, attempt: SpawnerAttempt, definition_id: int, definition: bytes | None
    ) -> FunctionCall:
        request, key = attempt.request, attempt.key
        assert request.warm is not None
        path = output_path(self._logs, key.batch_id, key.job_id, key.attempt)
        return FunctionCall(
            definition_id,
            definition,
            request.warm.body,
            {**request.env, **self._launcher.variables_of(attempt)},
            request.cwd or attempt.cwd or "/",
            f"{path}.result",
        )

    def _take_idle(self, key: Key) -> WarmProcess | None:
        """Take the most recently used process."""
        idle = self._idle.get(key)
        if not idle:
            return None
        process = idle.pop()
        if not idle:
            del self._idle[key]
        self._idle_count -= 1
        self.idle_mib -= process.memory_mib
        return process

    def _launch(self, key: Key, environment: dict[str, str]) -> WarmProcess:
        ours, its = socket.socketpair()
        try:
            spawned = self._launcher.start_warm(key[1], environment, key[0], its.fileno())
        except BaseException:
            ours.close()
            raise
        finally:
            its.close()
        ours.settimeout(0)
        process = WarmProcess(self._loop, key, spawned, ours)
        self._running.own_children.add(process.pid)
        self._loop.watch(ours.fileno(), partial(self._on_message, process))
        self._loop.watch(process.pidfd, partial(self._on_exit, process))
        self._loop.watch(process.stdout_fd, partial(self._on_readable, process, STDOUT))
        self._loop.watch(process.stderr_fd, partial(self._on_readable, process, STDERR))
        return process

    def _on_readable(self, process: WarmProcess, kind: int) -> None:
        """Keep the output of a call; output between calls is dropped."""
        fd = process.stdout_fd if kind == STDOUT else process.stderr_fd
        if fd >= 0 and self._running.streams.read(process.attempt, kind, fd) == 0:
            self._loop.forget(fd)
            os.close(fd)
            if kind == STDOUT:
                process.stdout_fd = -1
            else:
                process.stderr_fd = -1
            process.is_worn = True
            if process.attempt is None:
                self._drop_idle(process)

    def _on_message(self, process: WarmProcess) -> None:
        if process.control.fileno() < 0 or not process.write():
            return
        try:
            for done in process.receive():
                self._on_done(process, done)
        except Unreadable as error:
            sys.stderr.write(f"spawner: a warm process sent an invalid message: {error}\n")
            self._drop_idle(process)
            self._kill(process)

    def _on_done(self, process: WarmProcess, done: CallDone) -> None:
        attempt, process.attempt = process.attempt, None
        if attempt is None:
            raise Unreadable("an end of no call")
        self._running.streams.read_rest(attempt, process.stdout_fd, process.stderr_fd)
        attempt.exit_code = done.exit_code
        attempt.failure = attempt.failure or done.failure
        attempt.message = attempt.message or done.message
        attempt.cpu_ms = done.cpu_ms
        attempt.memory_peak_bytes = done.memory_peak_bytes
        attempt.result = done.result
        self._running.streams.finish(attempt)
        self._keep_result(attempt)
        self._running.own_children.add(process.pid)
        process.memory_mib = done.memory_bytes // _MIB
        # One that had a GPU may hold memory of it, and the GPU goes to others now.
        is_done_with = attempt.killed_for is not None or attempt.taken.gpus
        if done.has_children or is_done_with or self._is_worn(process):
            self._retire(process)
        else:
            self._rest(process)
        if not done.has_children:
            # First, because what the attempt leaves to the next one is looked for only once then.
            self._launcher.clean(attempt)
        self._running.end(attempt)
        if done.has_children:
            process.left.append(attempt)

    def _keep_result(self, attempt: SpawnerAttempt) -> None:
        """Write a short result to its own file if the output, stored beside it, is long."""
        if not attempt.result or attempt.output is None or attempt.output.is_short:
            return
        key = attempt.key
        path = output_path(self._logs, key.batch_id, key.job_id, key.attempt)
        try:
            fd = open_plain(f"{path}.result", _RESULT_FLAGS)
            try:
                write_all(fd, attempt.result)
            finally:
                os.close(fd)
        except OSError as error:
            fail_for_disk(attempt, error)

    def _is_worn(self, process: WarmProcess) -> bool:
        return (
            process.is_worn
            or process.calls >= self.limits.calls_max
            or process.memory_mib > self.limits.memory_mib_max
            or len(process.definitions) >= _DEFINITIONS_MAX
        )

    def _rest(self, process: WarmProcess) -> None:
        """Keep the process for the next call."""
        process.idle_since_ns = time.monotonic_ns()
        self._idle.setdefault(process.key, []).append(process)
        self._idle_count += 1
        self.idle_mib += process.memory_mib
        if self._idle_count > _IDLE_MAX:
            self._retire_oldest()
        if self._idle_timer is None:
            due_ns = process.idle_since_ns + self.limits.idle_ms * _MS
            self._idle_timer = self._loop.at(due_ns, self._retire_old)

    def _retire_old(self) -> None:
        """End processes that were idle for too long; check again when the next one is due."""
        self._idle_timer = None
        since_ns = time.monotonic_ns() - self.limits.idle_ms * _MS
        for process in [one for one in self._all_idle() if one.idle_since_ns <= since_ns]:
            self._drop_idle(process)
        due_ns = min((one.idle_since_ns for one in self._all_idle()), default=None)
        if due_ns is not None:
            due_ns += self.limits.idle_ms * _MS
            self._idle_timer = self._loop.at(due_ns, self._retire_old)

    def _retire_oldest(self) -> None:
        self._drop_idle(min(self._all_idle(), key=lambda process: process.idle_since_ns))

    def _all_idle(self) -> Iterator[WarmProcess]:
        return (process for idle in self._idle.values() for process in idle)

    def _drop_idle(self, process: WarmProcess) -> None:
        self._forget_idle(process)
        self._retire(process)

    def _forget_idle(self, process: WarmProcess) -> None:
        idle = self._idle.get(process.key, [])
        if process in idle:
            idle.remove(process)
            self._idle_count -= 1
            self.idle_mib -= process.memory_mib
            if not idle:
                del self._idle[process.key]

    def _retire(self, process: WarmProcess) -> None:
        """Let the process end; kill it if it does not."""
        if not process.dismiss():
            return
        due_ns = time.monotonic_ns() + _END_WITHIN_NS
        self._loop.at(due_ns, partial(self._kill_if_alive, process))

    def _kill_if_alive(self, process: WarmProcess) -> None:
        if process.pid:
            self._kill(process)

    @staticmethod
    def _kill(process: WarmProcess) -> None:
        tree.send_group(process.pid, signal.SIGKILL)
        tree.send(process.pid, signal.SIGKILL)

    def _on_exit(self, process: WarmProcess) -> None:
        if not process.pid:
            return
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid == 0:
            return
        if process.control.fileno() >= 0:
            self._on_message(process)  # messages that it sent before it ended still count
        self._forget_idle(process)
        self._loop.forget(process.pidfd)
        os.close(process.pidfd)
        self._running.own_children.discard(pid)
        attempt, process.attempt = process.attempt, None
        if attempt is not None:
            attempt.cpu_ms = int((usage.ru_utime + usage.ru_stime) * 1000 + 0.5)
            attempt.memory_peak_bytes = usage.ru_maxrss * 1024
            self._fail(process, attempt, status)
        process.close()
        process.pid = 0
        self._running.look_behind(process.left)

    def _fail(self, process: WarmProcess, attempt: SpawnerAttempt, status: int) -> None:
        """End an attempt whose process ended during the call."""
        attempt.ended_ns = time.monotonic_ns()
        self._running.take_status(attempt, status)
        if attempt.exit_code == 0 and attempt.killed_for is None and attempt.failure is None:
            attempt.failure = Reason.EXIT
            attempt.message = "the process ended before the function returned"
        self._running.streams.read_rest(attempt, process.stdout_fd, process.stderr_fd)
        self._running.streams.finish(attempt)
        self._running.end(attempt)
        process.left.append(attempt)
