"""One warm process: its socket, its pipes, and the attempt that it serves."""

import os
import socket
from dataclasses import InitVar, dataclass, field

import msgspec

from weft.wire.function import DONE_BYTES_MAX, HEADER, CallDone, FunctionCall
from weft.worker.spawner.attempt import SpawnerAttempt
from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.prepared import Spawned

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
