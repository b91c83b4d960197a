"""Find this worker's spawner, or start one after proof that the older one is gone; and the agent's
end of the connection to it.
"""

import asyncio
import fcntl
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import cast

import msgspec

from weft.core.bounded import read_msgpack
from weft.core.errors import Internal
from weft.plugins.runners.spawner.sandbox import Wanted, namespace_words
from weft.ports.runner import Happened, RunnerGone
from weft.telemetry.log import log
from weft.wire import spawner as wire
from weft.wire.plain_files import open_plain
from weft.wire.processes import all_pids, parts_of

_READY_WITHIN_S = 20.0
_GONE_WITHIN_S = 10.0
_STEP_S = 0.01
_READY_FD = 3
_WELCOME_WITHIN_S = 10.0
_ENDS_BYTES_MAX = 8 << 20
_READ_BYTES = 1 << 16
_MARK = b"WEFT_ATTEMPT="
_START_FIELD = 22 - 3
"""Position in `/proc/PID/stat` after the name; fields are counted from 1, and 2 is the name."""


class SpawnerNotStarted(Internal, code="WORKER.SPAWNER_NOT_STARTED"):
    """The spawner did not start, or an older one does not end."""


@dataclass(frozen=True)
class SpawnerFiles:
    """The paths of a spawner's files, and where it runs."""

    socket: Path
    lock: Path
    logs: Path
    scratch: Path
    checkpoints: Path
    own_log: Path
    namespace: Wanted = "auto"
    """Whether the spawner gets a PID namespace."""
    accounts: bool = False
    """Whether it starts processes under other accounts."""
    cgroup: Path | None = None
    """Where cgroups of its attempts are."""


class SpawnerLink(asyncio.Protocol):
    """Send messages and keep reports in order of arrival."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = loop.create_future()
        self.welcome: asyncio.Future[wire.Welcome] = loop.create_future()
        self._reports: deque[wire.Report | Happened] = deque()
        self._told = asyncio.Event()
        self._framer = wire.Framer()
        self._decoder = msgspec.msgpack.Decoder(wire.SpawnerMessage)
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        # Those of uvloop do not inherit from asyncio's.
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Take bytes that have arrived."""
        for body in self._framer.feed(data):
            message = self._decoder.decode(body)
            if isinstance(message, wire.Report):
                self.tell(message)
            elif not self.welcome.done():
                self.welcome.set_result(message)

    def tell(self, report: wire.Report | Happened) -> None:
        """Add a report: one from the spawner, or one of our own."""
        self._reports.append(report)
        self._told.set()

    async def next_report(self) -> wire.Report | Happened:
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

    def send(self, message: wire.AgentMessage) -> bool:
        """Send; after the end of the connection, drop the message: the next agent catches up."""
        if self._transport is None:
            return False
        self._transport.write(wire.frame(message))
        return True

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


async def greet(link: SpawnerLink, hello: wire.Hello) -> wire.Welcome:
    """Say hello and return the answer. Raises `RunnerGone`, also if there is no answer."""
    link.send(hello)
    try:
        async with asyncio.timeout(_WELCOME_WITHIN_S):
            return await link.welcome
    except TimeoutError as error:
        raise RunnerGone from error


async def find_or_start(files: SpawnerFiles) -> SpawnerLink:
    """Return a connection to the live spawner, else to a new one, before any greeting."""
    async with asyncio.timeout(_READY_WITHIN_S):
        while True:
            link = await connect(files.socket)
            if link is not None:
                return link
            if not is_locked(files.lock):
                await clear_away(files)
                await _start(files)
            await asyncio.sleep(_STEP_S)


def is_locked(path: Path) -> bool:
    """Say whether a spawner lives: it holds the lock all its life."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


async def clear_away(files: SpawnerFiles) -> None:
    """Kill what is left of a dead spawner's jobs and wait until that is gone."""
    if (dead := _holder(files)) is None:
        return
    async with asyncio.timeout(_GONE_WITHIN_S):
        while (killed := kill_marked(dead.incarnation)) or is_dying(dead):
            if killed:
                log.warning("worker.leftovers_killed", pids=sorted(killed))
            await asyncio.sleep(_STEP_S)


async def left_ends(files: SpawnerFiles) -> tuple[str, list[wire.ProcessEnd]]:
    """Return the incarnation of a dead spawner, of which nothing runs any more, and the ends that
    nobody acknowledged to it. Whatever a job has put in place of its file has none.
    """
    if is_locked(files.lock) or (dead := _holder(files)) is None:
        return "", []
    await clear_away(files)
    source = dead.incarnation, wire.PROTOCOL_VERSION
    ends: list[wire.ProcessEnd] = []
    with suppress(OSError, ValueError, msgspec.MsgspecError):
        for body in _bodies(Path(f"{files.lock}{wire.ENDS}")):
            message = read_msgpack(body, wire.Welcome, depth_max=None)
            if (message.incarnation, message.version) == source:
                ends += message.ended
    return dead.incarnation, ends


def _bodies(path: Path) -> Iterator[bytes]:
    """Yield the messages of a file, but nothing beyond a length that it should not have."""
    framer = wire.Framer()
    with open(path, "rb", opener=open_plain) as file:
        for _ in range(0, _ENDS_BYTES_MAX, _READ_BYTES):
            yield from framer.feed(file.read(_READ_BYTES))


def _holder(files: SpawnerFiles) -> wire.SpawnerLock | None:
    """Return who had the lock last, if that was during this boot."""
    try:
        holder = msgspec.json.decode(files.lock.read_bytes(), type=wire.SpawnerLock)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
    return holder if holder.boot_id == read_boot_id() else None


async def wait_gone(files: SpawnerFiles) -> None:
    """Wait until the spawner has ended and nothing of its jobs is left.

    Raises `SpawnerNotStarted` if it lives on: beside it a new one might run its jobs twice.
    """
    try:
        async with asyncio.timeout(_GONE_WITHIN_S):
            # A lock has no event to wait for; the loop ends with the spawner.
            while is_locked(files.lock):  # noqa: ASYNC110
                await asyncio.sleep(_STEP_S)
    except TimeoutError as error:
        raise SpawnerNotStarted(
            f"the earlier spawner of this worker has not ended within {_GONE_WITHIN_S:g} s",
            detail=f"Its process is {spawner_pid(files) or 'not visible'}; it holds {files.lock}.",
            hint="Start the worker again, as `weft up` and systemd do: it waits once more. If the "
            f"host is not busy, read {files.own_log} and kill that process, with its jobs.",
        ) from error
    await clear_away(files)


async def _start(files: SpawnerFiles) -> None:
    # Parents by themselves: `mkdir` sets the mode of the last one only.
    scratch = (files.scratch.parent, files.scratch)
    checkpoints = (files.checkpoints.parent, files.checkpoints)
    others = (files.logs, *scratch, *checkpoints, files.own_log.parent)
    for directory in (files.socket.parent, *others):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    ready, ready_of_spawner = os.pipe2(os.O_CLOEXEC)
    try:
        pid = _spawn(files, ready_of_spawner)
    finally:
        os.close(ready_of_spawner)
    if await _read_once(ready):
        _reap_later(pid)
        log.info("worker.spawner_started", spawner_pid=pid)
        return
    _, status = os.waitpid(pid, 0)  # noqa: ASYNC222 (it has closed its end, so it has ended)
    if not is_locked(files.lock):
        raise SpawnerNotStarted(
            "the spawner could not be started",
            detail=f"It ended with code {os.waitstatus_to_exitcode(status)}.",
            hint=f"Read {files.own_log}.",
        )


def _spawn(files: SpawnerFiles, ready_fd: int) -> int:
    """Start it in a session of its own, so that it outlives this agent; return its process id."""
    words = [
        *namespace_words(files.namespace),
        sys.executable,
        "-X",
        "utf8",
        "-P",
        "-m",
        "weft.worker.spawner",
        str(files.socket),
        str(files.lock),
        str(files.logs),
        str(files.scratch),
        str(files.checkpoints),
        str(_READY_FD),
        *(["accounts"] if files.accounts else []),
        *(["cgroups", str(files.cgroup)] if files.cgroup is not None else []),
    ]
    appending = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    actions = [
        (os.POSIX_SPAWN_DUP2, ready_fd, _READY_FD),
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(files.own_log), appending, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawnp(words[0], words, os.environ, file_actions=actions, setsid=True)


async def _read_once(fd: int) -> bytes:
    """Wait for the first byte or the end of a pipe, and close it."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), FileIO(fd)
    )
    try:
        return await reader.read(1)
    finally:
        transport.close()


def _reap_later(pid: int) -> None:
    """Reap the process when it ends, so that no zombie stays while this agent lives."""
    loop = asyncio.get_running_loop()
    pidfd = os.pidfd_open(pid)

    def on_exit() -> None:
        loop.remove_reader(pidfd)
        os.close(pidfd)
        os.waitpid(pid, os.WNOHANG)

    loop.add_reader(pidfd, on_exit)


# Processes that a dead spawner left are identified only by their mark: the random name of its
# incarnation in the environment of each process that it started. Process ids and inode numbers
# prove nothing, because the kernel reuses both: their present owner may belong to a container or
# to another home. A spawner with its own PID namespace takes everything with it. Without one, a
# process that has cleared its environment and left its process group is not found.


def read_boot_id() -> str:
    """Return the random name of the current boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def kill_marked(incarnation: str) -> set[int]:
    """Kill the processes that carry this incarnation's mark; return their ids."""
    pids = all_pids()
    return {pid for pid in pids if _is_marked(pid, incarnation) and _kill(pid, incarnation)}


def spawner_pid(files: SpawnerFiles) -> int | None:
    """Return the process that has the lock, and lives; None: there is none."""
    holder = _holder(files)
    found = (pid for pid in all_pids() if holder and _is_spawner(Path(f"/proc/{pid}"), holder))
    return next(found, None)


def is_dying(dead: wire.SpawnerLock) -> bool:
    """Say whether this spawner has not ended yet: the kernel frees its lock before it kills the
    other processes of its namespace.
    """
    return any(_is_spawner(Path(f"/proc/{pid}"), dead) for pid in all_pids() if dead.boot_id)


def _is_marked(pid: int, incarnation: str) -> bool:
    if pid == os.getpid():
        return False
    variables = parts_of(pid, "environ")
    ending = f"@{incarnation}".encode()
    return any(variable.startswith(_MARK) and variable.endswith(ending) for variable in variables)


def _kill(pid: int, incarnation: str) -> bool:
    """Kill a process, unless its id was reused after we looked."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not _is_marked(pid, incarnation):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _is_spawner(entry: Path, dead: wire.SpawnerLock) -> bool:
    try:
        state, *fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
        return (
            int(fields[_START_FIELD - 1]) == dead.started_ticks
            and state not in b"ZX"
            and (entry / "ns/pid").stat().st_ino == dead.pid_namespace_inode
            and _innermost_pid(entry) == dead.pid
        )
    except (OSError, IndexError):
        return False


def _innermost_pid(entry: Path) -> int:
    """Return the id of a process in its own PID namespace."""
    for line in (entry / "status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return int(entry.name)
