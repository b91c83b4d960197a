"""The pipes of processes: watched, read into the outputs of attempts, and closed."""

import os
import time
from collections.abc import Callable
from functools import partial

from weft.wire.log_format import STDERR, STDOUT
from weft.worker.spawner.attempt import SpawnerAttempt
from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.output import Output, output_path
from weft.worker.spawner.reports import fail_for_disk

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
