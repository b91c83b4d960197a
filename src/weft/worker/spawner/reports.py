"""The ends of attempts: stored, reported, and kept until they are acknowledged."""

import os
import time
from collections.abc import Collection, Iterable
from contextlib import suppress

from weft.core.ends.failure_causes import error_line
from weft.core.states import AttemptKey, Reason
from weft.wire.log_format import RECORD, RECORD_MAGIC, RESULT, STDERR, STDOUT, encode_piece
from weft.wire.spawner import LiveProcess, ProcessEnd, Report, Welcome, frame
from weft.worker.private_files import write_all
from weft.worker.spawner.agent_link import AgentLink
from weft.worker.spawner.attempt import SpawnerAttempt

# While more work waits here, no end has to be reported at once: send fewer, larger messages.
_HOLD_NS = 25_000_000
_HOLD_COUNT = 256
_STORE_NS = 2_000_000
"""What is seen so soon after another one is stored with it, while more work waits here."""
_MESSAGE_COUNT = 1024
_KEPT_BYTES = 1 << 20
SEGMENT_BYTES_MAX = 64 * 1024 * 1024


class Segments:
    """Append records, many in one write. A spawner writes only to files that it made itself."""

    def __init__(self, root: str) -> None:
        self._directory = os.path.join(root, "segments")
        self._number = 0
        self._fd = -1
        self._size = 0

    def append(self, outputs: list[tuple[AttemptKey, bytes]]) -> list[tuple[int, int]]:
        """Write the pieces of these attempts and return the segment and offset of each.

        Raises `OSError` if that fails; then none of them is in the file.
        """
        if self._fd < 0 or self._size >= SEGMENT_BYTES_MAX:
            self._open_next()
        positions = []
        chunks = []
        position = self._size
        for key, pieces in outputs:
            positions.append((self._number, position))
            header = RECORD.pack(RECORD_MAGIC, key.batch_id, key.job_id, key.attempt, len(pieces))
            chunks += [header, pieces]
            position += len(header) + len(pieces)
        try:
            write_all(self._fd, b"".join(chunks))
        except OSError:
            os.ftruncate(self._fd, self._size)
            raise
        self._size = position
        return positions

    def _open_next(self) -> None:
        """Make the next file that does not exist yet. Workers of one host share the directory."""
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        if self._fd < 0:
            names = [int(name) for name in os.listdir(self._directory) if name.isdigit()]
            number = max(names, default=0) + 1
        else:
            number = self._number + 1
        while True:
            path = os.path.join(self._directory, f"{number:08d}")
            try:
                fd = os.open(
                    path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600
                )
            except FileExistsError:
                number += 1
                continue
            break
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._number, self._size = fd, number, 0


class KeptEnds:
    """Ends that the database may not have, in a file that outlives a spawner that is killed: the
    next agent reports them. No disk is waited for: where the power goes, the jobs run again.
    """

    def __init__(self, path: str, incarnation: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(path)  # a job may have put anything there
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(path, flags, 0o600)
        self._incarnation = incarnation
        self._size = 0
        self._small = _KEPT_BYTES

    def add(self, ends: Iterable[ProcessEnd]) -> None:
        """Keep ends that there is room for. A job that somebody else killed runs again: who kills
        a worker as a whole may kill its jobs first.
        """
        own = [end for end in ends if end.signal is None or end.killed_for is not None]
        if not own:
            return
        data = frame(Welcome(self._incarnation, False, [], [], own))  # noqa: FBT003 (unknown)
        try:
            write_all(self._fd, data)
        except OSError:
            self._cut(self._size)
        else:
            self._size += len(data)

    def keep_only(self, ends: Collection[ProcessEnd]) -> None:
        """Forget all others, if they are many or all."""
        if self._size > (self._small if ends else 0):
            self._cut(0)
            self.add(ends)
            self._small = max(_KEPT_BYTES, 2 * self._size)

    def _cut(self, size: int) -> None:
        with suppress(OSError):
            os.ftruncate(self._fd, size)
        self._size = size


class Reports:
    """Collect ends and starts, and report them in sets."""

    def __init__(self, segments: Segments, link: AgentLink, file: KeptEnds) -> None:
        self._segments = segments
        self._kept = file
        self._link = link
        self._finished: list[SpawnerAttempt] = []
        self._store_ns = 0
        self._hold_until_ns = 0
        self._unsent: list[ProcessEnd] = []
        self._started: list[LiveProcess] = []
        self._withdrawn: list[AttemptKey] = []
        self._obeyed: list[tuple[int, str]] = []
        self.unacknowledged: dict[AttemptKey, ProcessEnd] = {}

    def add_end(self, attempt: SpawnerAttempt) -> None:
        """Note that an attempt has ended and all of its output was read."""
        if not self._finished:
            now_ns = time.monotonic_ns()
            self._store_ns = now_ns + _STORE_NS
            if not self._unsent:
                self._hold_until_ns = now_ns + _HOLD_NS
        self._finished.append(attempt)

    def add_start(self, started: LiveProcess) -> None:
        """Note that a process runs."""
        self._started.append(started)

    def add_withdrawn(self, key: AttemptKey) -> None:
        """Note that an attempt was withdrawn before it was started."""
        self._withdrawn.append(key)

    def add_obeyed(self, number: int, refusal: str) -> None:
        """Note what came of a command."""
        self._obeyed.append((number, refusal))

    def acknowledge(self, keys: Iterable[AttemptKey]) -> None:
        """Forget these ends."""
        for key in keys:
            self.unacknowledged.pop(key, None)
        self._kept.keep_only(self.unacknowledged.values())

    def due_ns(self, *, busy: bool) -> int | None:
        """Return when to call `settle`; None: nothing to do. `busy`: more work waits here."""
        if self._finished:
            return self._store_ns if busy and len(self._finished) < _HOLD_COUNT else 0
        return self._tell_ns(busy=busy)

    def _tell_ns(self, *, busy: bool) -> int | None:
        if not self._link.is_open or not (self._unsent or self._untold):
            return None
        is_held = self._unsent and busy and len(self._unsent) < _HOLD_COUNT
        return self._hold_until_ns if is_held else 0

    def settle(self, *, busy: bool) -> None:
        """Store what is due, and send the agent what it does not know yet."""
        self.store()
        due_ns = self._tell_ns(busy=busy)
        if due_ns is None or due_ns > time.monotonic_ns():
            return
        while (self._unsent or self._untold) and self._link.is_open:
            ended, self._unsent = self._unsent[:_MESSAGE_COUNT], self._unsent[_MESSAGE_COUNT:]
            self._link.send(Report(self._started, ended, self._withdrawn, self._obeyed))
            self._started, self._withdrawn, self._obeyed = [], [], []

    @property
    def _untold(self) -> bool:
        """Say whether there is anything besides ends that the agent does not know yet."""
        return bool(self._started or self._withdrawn or self._obeyed)

    def store(self) -> None:
        """Write the short outputs of all ended attempts at once, and their ends."""
        finished, self._finished = self._finished, []
        if not finished:
            return
        positions = self._store_outputs([one for one in finished if _in_segment(one)])
        ends = [_ended_of(attempt, positions.get(attempt.key)) for attempt in finished]
        self.unacknowledged.update((end.key, end) for end in ends)
        self._unsent += ends
        self._kept.add(ends)

    def forget_unsent(self) -> None:
        """Drop unsent reports: the next agent receives everything once it says hello."""
        self._unsent, self._started, self._withdrawn, self._obeyed = [], [], [], []

    def _store_outputs(self, attempts: list[SpawnerAttempt]) -> dict[AttemptKey, tuple[int, int]]:
        outputs = [(attempt.key, _pieces_of(attempt)) for attempt in attempts]
        if not outputs:
            return {}
        try:
            positions = self._segments.append(outputs)
        except OSError:
            return self._store_one_by_one(attempts)
        return {key: position for (key, _), position in zip(outputs, positions, strict=True)}

    def _store_one_by_one(
        self, attempts: list[SpawnerAttempt]
    ) -> dict[AttemptKey, tuple[int, int]]:
        """Store the outputs that still fit; the others fail because the disk is full."""
        positions = {}
        for attempt in attempts:
            try:
                (position,) = self._segments.append([(attempt.key, _pieces_of(attempt))])
            except OSError as error:
                fail_for_disk(attempt, error)
            else:
                positions[attempt.key] = position
        return positions


def fail_for_disk(attempt: SpawnerAttempt, error: OSError) -> None:
    """Note that the output of an attempt could not be kept."""
    attempt.failure = Reason.DISK
    where = f" ({error.filename})" if error.filename else ""
    attempt.message = f"the output could not be kept: {error.strerror}{where}"


def _in_segment(attempt: SpawnerAttempt) -> bool:
    output = attempt.output
    if output is None:
        return bool(attempt.result)
    return output.is_short and not output.failed


def _pieces_of(attempt: SpawnerAttempt) -> bytes:
    """Return what is stored in a segment: a short output and the result of a call."""
    pieces = attempt.output.short_pieces() if attempt.output else b""
    if attempt.result:
        pieces += encode_piece(RESULT, 0, attempt.result)
    return pieces


def _ended_of(attempt: SpawnerAttempt, position: tuple[int, int] | None) -> ProcessEnd:
    failed = attempt.failure is not None
    output = attempt.output
    return ProcessEnd(
        attempt.key,
        attempt.started_ns,
        attempt.ended_ns,
        None if failed else attempt.exit_code,
        None if failed else attempt.signal,
        attempt.failure,
        _message_of(attempt),
        attempt.killed_for,
        attempt.cpu_ms,
        attempt.memory_peak_bytes,
        output.totals[STDOUT] if output else 0,
        output.totals[STDERR] if output else 0,
        output is not None and output.truncated,
        position[0] if position else None,
        position[1] if position else None,
    )


def _message_of(attempt: SpawnerAttempt) -> str:
    """Return what is said of an end: what went wrong, and what the attempt ran in."""
    said = attempt.message or _error_of(attempt)
    return "\n".join(filter(None, (said, attempt.request.note)))


def _error_of(attempt: SpawnerAttempt) -> str:
    """Return what a job that failed by itself said about it."""
    by_itself = attempt.failure is None and attempt.killed_for is None
    if not by_itself or attempt.output is None or not (attempt.exit_code or attempt.signal):
        return ""
    environment = {**attempt.environment, **attempt.request.env}
    return error_line(attempt.output.error_tail(), environment)
