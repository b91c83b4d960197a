"""What is between a weft and its broker in tests of faults: it holds, loses and cuts traffic."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

Direction = Literal["out", "in"]
"""To the broker, or from it."""


class Proxy:
    """Forwards to one address, in threads."""

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._passes = {"out": threading.Event(), "in": threading.Event()}
        self._sockets: list[socket.socket] = []
        self.sent: list[bytearray] = []
        """What was sent to the target, by connection."""
        self.release()
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self, direction: Direction) -> None:
        """Let nothing pass in one direction from now on."""
        self._passes[direction].clear()

    def release(self) -> None:
        """Let everything pass."""
        for one in self._passes.values():
            one.set()

    def cut(self) -> None:
        """End all connections; what was held is lost. Then let new ones pass."""
        sockets, self._sockets = self._sockets, []
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.release()

    def close(self) -> None:
        """End."""
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                try:
                    far = socket.create_connection(self._target, timeout=10)
                except OSError:
                    near.close()
                    continue
                far.settimeout(None)
                self._sockets += near, far
                for direction, one, other in (("out", near, far), ("in", far, near)):
                    threading.Thread(
                        target=self._forward, args=(direction, one, other), daemon=True
                    ).start()

    def _forward(self, direction: str, one: socket.socket, other: socket.socket) -> None:
        sent = bytearray()
        if direction == "out":
            self.sent.append(sent)
        with suppress(OSError):
            while data := one.recv(65_536):
                if direction == "out":
                    sent += data
                self._passes[direction].wait()
                other.sendall(data)
        for each in (one, other):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy_before(address: str) -> Iterator[Proxy]:
    """Run a proxy before `SCHEME://HOST:PORT`."""
    host, _, port = address.partition("://")[2].rpartition(":")
    proxy = Proxy(host, int(port))
    try:
        yield proxy
    finally:
        proxy.close()
