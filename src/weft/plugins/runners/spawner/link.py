"""The agent's end of the connection to the spawner."""

import asyncio
import os
import socket
from collections import deque
from pathlib import Path
from typing import cast

import msgspec

from weft.ports.runner import Happened, RunnerGone
from weft.wire.spawner import AgentMessage, Framer, Hello, Report, SpawnerMessage, Welcome, frame

_WELCOME_WITHIN_S = 10.0


class SpawnerLink(asyncio.Protocol):
    """Send messages and keep reports in order of arrival."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = loop.create_future()
        self.welcome: asyncio.Future[Welcome] = loop.create_future()
        self._reports: deque[Report | Happened] = deque()
        self._told = asyncio.Event()
        self._framer = Framer()
        self._decoder = msgspec.msgpack.Decoder(SpawnerMessage)
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        # Those of uvloop do not inherit from asyncio's.
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Take bytes that have arrived."""
        for body in self._framer.feed(data):
            message = self._decoder.decode(body)
            if isinstance(message, Report):
                self.tell(message)
            elif not self.welcome.done():
                self.welcome.set_result(message)

    def tell(self, report: Report | Happened) -> None:
        """Add a report: one from the spawner, or one of our own."""
        self._reports.append(report)
        self._told.set()

    async def next_report(self) -> Report | Happened:
        """Return the next report after the welcome. Raise `RunnerGone` after the last one."""
        while not self._reports:
            if self.gone.done():
                raise RunnerGone
            self._told.clear()
            await self._told.wait()
        return self._reports.popleft()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake the tasks that wait."""
        del exc
        self._transport = None
        self._told.set()
        if not self.gone.done():
            self.gone.set_result(None)
        if not self.welcome.done():
            self.welcome.set_exception(RunnerGone())
            self.welcome.exception()  # perhaps no task waits for it any more

    def send(self, message: AgentMessage) -> None:
        """Send; after the end of the connection, drop the message: the next agent catches up."""
        if self._transport is not None:
            self._transport.write(frame(message))

    def close(self) -> None:
        """Close the connection; the spawner continues."""
        if self._transport is not None:
            self._transport.close()


def open_socket(path: Path, kind: socket.SocketKind) -> socket.socket | None:
    """Connect to a spawner's socket, whose path may have any length; `None`: no listener."""
    try:
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    sock = socket.socket(socket.AF_UNIX, kind)
    sock.settimeout(0)
    try:
        sock.connect(f"/proc/self/fd/{directory}/{path.name}")
    except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):
        sock.close()
        return None
    finally:
        os.close(directory)
    return sock


async def connect(path: Path) -> SpawnerLink | None:
    """Connect as an agent."""
    sock = open_socket(path, socket.SOCK_STREAM)
    if sock is None:
        return None
    _, link = await asyncio.get_running_loop().create_unix_connection(SpawnerLink, sock=sock)
    return link


async def greet(link: SpawnerLink, hello: Hello) -> Welcome:
    """Say hello and return the answer. Raises `RunnerGone`, also if there is no answer."""
    link.send(hello)
    try:
        async with asyncio.timeout(_WELCOME_WITHIN_S):
            return await link.welcome
    except TimeoutError as error:
        raise RunnerGone from error
