"""Messages between a worker's agent and its spawner, over one Unix stream socket.

A message is four bytes of length (big endian) and that many bytes of msgpack: an `AgentMessage` to the spawner, a
`SpawnerMessage` back. All times are `CLOCK_MONOTONIC` in nanoseconds, which both processes share.

The spawner keeps every `Ended` until the agent acknowledges it, so an agent may die at any moment: the next one says
`Hello` and is told what lives and what has ended.
"""

import struct
from typing import ClassVar

import msgspec

PROTOCOL_VERSION = 1
HEADER = struct.Struct("!I")
MESSAGE_BYTES_MAX = 64 * 1024 * 1024


class AttemptKey(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Which attempt: batch number, job number, attempt number."""

    batch_id: int
    job_id: int
    attempt: int


class StartProcess(msgspec.Struct, frozen=True, array_like=True):
    """Start one process. `argv` empty: a no-op, which ends at once with exit code 0."""

    key: AttemptKey
    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str | None
    """None: an empty directory of its own, which the spawner makes and removes."""
    stdin: str | None
    """None: /dev/null."""
    timeout_ms: int | None
    grace_ms: int
    """From SIGTERM to SIGKILL."""
    stream_bytes_max: int
    """A longer stream keeps its first `stream_head_bytes` and its last bytes."""
    stream_head_bytes: int


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """First message of an agent: from now on the spawner serves this connection and closes any older one."""

    version: int = PROTOCOL_VERSION


class Start(msgspec.Struct, frozen=True, tag="start"):
    """Start these processes at once, in order. A key that the spawner knows already is ignored."""

    processes: list[StartProcess]


class Kill(msgspec.Struct, frozen=True, tag="kill"):
    """End these attempts: SIGTERM to the whole tree, after `grace_ms` SIGKILL; unknown keys are ignored."""

    keys: list[AttemptKey]
    reason: int
    """`core.states.Reason`: why; the spawner gives it back in `Ended.killed_for`."""
    grace_ms: int


class Acknowledge(msgspec.Struct, frozen=True, tag="ack"):
    """The database has recorded the end of these attempts: forget them."""

    keys: list[AttemptKey]


class Quit(msgspec.Struct, frozen=True, tag="quit"):
    """Kill everything that runs, at once, and exit."""


class Started(msgspec.Struct, frozen=True, array_like=True):
    """A process that lives."""

    key: AttemptKey
    pid: int
    started_ns: int


class Ended(msgspec.Struct, frozen=True, array_like=True):
    """A process that ended, or could not be started.

    Exactly one of these holds: `exit_code` is set; `signal` is set; `failure` is set (it never ran).
    """

    key: AttemptKey
    started_ns: int
    ended_ns: int
    exit_code: int | None
    signal: int | None
    failure: int | None
    """`core.states.Reason` if it could not be started or kept: NO_PROGRAM, BAD_SPEC, DISK, SYSTEM."""
    message: str
    """What a person should know: the missing program's name, the file system that is full."""
    killed_for: int | None
    """`core.states.Reason` if the spawner or a `Kill` ended it: TIMEOUT, CANCELLED, PREEMPTED, LOG_LIMIT."""
    cpu_ms: int
    memory_peak_bytes: int
    stdout_bytes: int
    """How much the job wrote, also what was cut."""
    stderr_bytes: int
    truncated: bool
    segment: int | None
    """Where a short output was appended: the segment's number and the byte offset of the record; None: a file of its
    own if it wrote anything at all."""
    offset: int | None


class Welcome(msgspec.Struct, frozen=True, tag="welcome"):
    """The answer to `Hello`."""

    incarnation: str
    """A random name, made when this spawner started. The fence of all its attempts."""
    pid_namespace: bool
    """True: nothing of a job can outlive this spawner."""
    live: list[Started]
    ended: list[Ended]
    version: int = PROTOCOL_VERSION


class Report(msgspec.Struct, frozen=True, tag="report"):
    """What happened since the last report. Every `Ended` comes again after the next `Hello` until acknowledged."""

    started: list[Started]
    ended: list[Ended]


AgentMessage = Hello | Start | Kill | Acknowledge | Quit
SpawnerMessage = Welcome | Report


class Framer:
    """Cut a stream of bytes into messages."""

    header_bytes: ClassVar[int] = HEADER.size

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Take what was read and return the messages that are whole. Raise `ValueError` for an impossible length."""
        self._buffer += data
        messages: list[bytes] = []
        position = 0
        while len(self._buffer) - position >= HEADER.size:
            (length,) = HEADER.unpack_from(self._buffer, position)
            if length > MESSAGE_BYTES_MAX:
                raise ValueError(f"a message of {length} bytes")  # noqa: EM102, TRY003
            end = position + HEADER.size + length
            if end > len(self._buffer):
                break
            messages.append(bytes(self._buffer[position + HEADER.size : end]))
            position = end
        del self._buffer[:position]
        return messages


_ENCODER = msgspec.msgpack.Encoder()


def frame(message: AgentMessage | SpawnerMessage) -> bytes:
    """Encode one message with its length."""
    body = _ENCODER.encode(message)
    return HEADER.pack(len(body)) + body
