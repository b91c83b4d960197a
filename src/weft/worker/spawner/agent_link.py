"""The connection to the agent: one at a time, the newest."""

import socket
import sys
from collections.abc import Callable

import msgspec

from weft.wire.spawner import AgentMessage, Framer, Hello, SpawnerMessage, frame
from weft.worker.spawner.loop import EventLoop

_READ_BYTES = 1 << 20
_WAITING_BYTES_MAX = 8 << 20


class AgentLink:
    """Listen, read messages, write messages. The loss of an agent does not affect the jobs."""

    def __init__(self, loop: EventLoop, listener: socket.socket) -> None:
        self._loop = loop
        self._listener = listener
        self._connection: socket.socket | None = None
        self._greeted = False
        self._framer = Framer()
        self._waiting = bytearray()
        self._waits_for_room = False
        self._decoder = msgspec.msgpack.Decoder(AgentMessage)
        self.on_message: Callable[[AgentMessage], None] = lambda _message: None
        self.on_gone: Callable[[], None] = lambda: None
        listener.settimeout(0)
        loop.watch(listener.fileno(), self._accept)

    @property
    def has_agent(self) -> bool:
        """Say whether an agent is connected and has said hello."""
        return self._greeted

    @property
    def is_open(self) -> bool:
        """Say whether the agent also reads what it is sent."""
        return self._greeted and len(self._waiting) < _WAITING_BYTES_MAX

    def send(self, message: SpawnerMessage) -> None:
        """Send without waiting; what the socket does not take now is sent later."""
        if self._connection is None:
            return
        was_empty = not self._waiting
        self._waiting += frame(message)
        if was_empty:
            self._write()

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        if self._connection is not None:
            self._read()  # messages that the older agent sent before it died still count
        self.drop()
        connection.settimeout(0)
        self._connection = connection
        self._loop.watch(connection.fileno(), self._on_ready)

    def _on_ready(self) -> None:
        if self._waiting:
            self._write()
        self._read()

    def _read(self) -> None:
        connection = self._connection
        while connection is not None and connection is self._connection:
            try:
                data = connection.recv(_READ_BYTES)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self.drop()
                return
            self._take(data)
            if len(data) < _READ_BYTES:
                return

    def _take(self, data: bytes) -> None:
        try:
            for body in self._framer.feed(data):
                message = self._decoder.decode(body)
                self._greeted = self._greeted or isinstance(message, Hello)
                if self._greeted:
                    self.on_message(message)
        except (ValueError, msgspec.MsgspecError) as error:
            sys.stderr.write(f"spawner: cannot read the agent's message: {error}\n")
            self.drop()

    def _write(self) -> None:
        if self._connection is None:
            return
        try:
            sent = self._connection.send(self._waiting, socket.MSG_NOSIGNAL)
        except BlockingIOError:
            sent = 0
        except OSError:
            self.drop()
            return
        del self._waiting[:sent]
        if bool(self._waiting) != self._waits_for_room:
            self._waits_for_room = bool(self._waiting)
            self._loop.watch_writes(self._connection.fileno(), wanted=self._waits_for_room)

    def drop(self) -> None:
        """Close the connection of the agent, if there is one."""
        if self._connection is None:
            return
        self._loop.forget(self._connection.fileno())
        self._connection.close()
        self._connection = None
        self._greeted = False
        self._framer = Framer()
        self._waiting = bytearray()
        self._waits_for_room = False
        self.on_gone()
