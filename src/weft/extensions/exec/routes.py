"""`POST /v1/batches/{b}/jobs/{j}/exec`: a command beside a running job.

The api's end of a command beside a job: a connection to its spawner, and its streams.
"""

import asyncio
import os
import shlex
import socket
import termios
from asyncio import StreamReader, StreamReaderProtocol
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import Final

import msgspec

from weft.api.http.decoding import JSON, decode
from weft.api.http.parameters import batch_id_of, job_id_of
from weft.api.http.parts import ApiPart
from weft.api.http.requests import AnyRequest, ClientGone, body_of, in_time
from weft.api.http.routing import Receive, Stream, post
from weft.api.http.trail import PATH_CHARS_MAX, action_of
from weft.api.use_cases.files import live_attempt
from weft.core.access.rights import Permission, Right
from weft.core.bounded import read_msgpack
from weft.core.errors import (
    ExecElsewhere,
    InvalidValue,
    JobNotRunning,
    MalformedBody,
    WeftError,
    error_classes,
)
from weft.core.ids import format_job_ref
from weft.plugins.runners.spawner.start import open_socket
from weft.ports.patience import end_tasks
from weft.run.home import Home
from weft.run.host.worker_name import file_name
from weft.settings import Settings
from weft.wire import exec as wire

ANSWER_S: Final = 10.0
QUIET_S: Final = 15.0
AFTER_S: Final = 0.2
"""How long output is awaited from what has left a command that has ended."""
_RELAY: Final = ("-I", "-S", "-c", Path(__file__).with_name("relay.py").read_text())
_PIECE_BYTES: Final = 1 << 16
_QUEUED: Final = 4
_STDIN: Final = 0


class _Reading(StreamReaderProtocol):
    """Reads to the end: that of a terminal, which nobody has open any more, is an error."""

    def connection_lost(self, _: Exception | None) -> None:
        super().connection_lost(None)


class Channel:
    """A command, from its start to its end. `close` ends it."""

    def __init__(
        self, connection: socket.socket, pipes: dict[int, FileIO], terminal: FileIO | None
    ) -> None:
        self._socket = connection
        self._pipes = pipes
        self._terminal = terminal
        self._input: asyncio.Queue[bytes] = asyncio.Queue()
        self._output: asyncio.Queue[bytes] = asyncio.Queue(_QUEUED)
        """Frames; each of its streams, and its end, is over with an empty one."""
        self._received = self._taken = 0
        self.ended: wire.Ended | None = None

    def close(self) -> None:
        """Let go of it: a command that still runs is ended by its spawner."""
        self._socket.close()
        for file in (*self._pipes.values(), self._terminal):
            if file is not None:
                file.close()

    def signal(self, number: int) -> None:
        """Send a signal to its process group."""
        with suppress(OSError):
            self._socket.send(msgspec.msgpack.encode(number))

    def resize(self, rows: int, columns: int) -> None:
        """Give its terminal another size, of which the command is told."""
        if self._terminal is not None and not self._terminal.closed:
            termios.tcsetwinsize(self._terminal.fileno(), (rows, columns))

    def put(self, data: bytes) -> bool:
        """Take input, none: there is no more; False: it is more than was asked for."""
        self._received += len(data) or 1  # so that nobody keeps sending ends
        self._input.put_nowait(data)
        return self._received - self._taken <= wire.BYTES_MAX + 1

    async def answer(self) -> wire.Begun | wire.Ended | wire.Refused | None:
        """Return the next packet; None: the spawner has gone."""
        data = b""
        with suppress(OSError):
            loop = asyncio.get_running_loop()
            data = await loop.sock_recv(self._socket, wire.BYTES_MAX)
        return read_msgpack(data, wire.Begun | wire.Ended | wire.Refused) if data else None

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """Yield what the client is to get; the last frame says how the command ended."""
        sources = [self._end(), *map(self._read, (kind for kind in list(self._pipes) if kind))]
        tasks = [asyncio.create_task(one) for one in (*sources, self._write())]
        open_count = len(sources)
        try:
            while open_count:
                try:
                    async with asyncio.timeout(AFTER_S if self.ended else QUIET_S):
                        piece = await self._output.get()
                except TimeoutError:
                    if self.ended:
                        break
                    piece = self._count()
                if piece:
                    yield piece
                else:
                    open_count -= 1
            yield wire.frame(wire.END, msgspec.json.encode(self.ended))
        finally:
            await end_tasks(tasks)
            self.close()

    def _count(self) -> bytes:
        return wire.frame(wire.TAKEN, str(self._taken).encode())

    async def _end(self) -> None:
        if self.ended is None:
            answer = await self.answer()
            self.ended = answer if isinstance(answer, wire.Ended) else wire.Ended(None)
        if why := self.ended.why:
            await self._output.put(wire.frame(wire.STDERR, f"weft exec: {why}\n".encode()))
        await self._output.put(b"")

    async def _read(self, kind: int) -> None:
        reader = StreamReader(_PIECE_BYTES)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: _Reading(reader), self._pipes.pop(kind)
        )
        try:
            while data := await reader.read(_PIECE_BYTES):
                await self._output.put(wire.frame(kind, data))
            await self._output.put(b"")
        finally:
            transport.close()

    async def _write(self) -> None:
        """Give the command its input as it takes it. What does not read it any more loses it. No
        transport does it: one that writes to a terminal also reads there.
        """
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        with self._pipes.pop(_STDIN) as file:
            while data := await self._input.get():
                self._taken += len(data)
                with suppress(OSError):
                    while data:
                        written = file.write(data)
                        data = data[written or 0 :]
                        if written is None:
                            ready.clear()
                            loop.add_writer(file, ready.set)
                            try:
                                await ready.wait()
                            finally:
                                loop.remove_writer(file)
                await self._output.put(self._count())


async def begin(
    path: Path, request: wire.Begin, size: wire.Terminal | None = None
) -> Channel | wire.Refused | None:
    """Start a command; None: no spawner listens there, or answers."""
    connection = open_socket(path, socket.SOCK_SEQPACKET)
    if connection is None:
        return None
    if size is None:
        (its_in, stdin), (stdout, its_out), (stderr, its_err) = (os.pipe() for _ in range(3))
        its = [its_in, its_out, its_err]
        files = FileIO(stdin, "w"), FileIO(stdout), FileIO(stderr)
        channel = Channel(connection, dict(enumerate(files)), None)
    else:
        ours, slave = os.openpty()
        its = [slave, os.dup(slave), os.dup(slave)]
        stdin = os.dup(ours)
        pipes = {_STDIN: FileIO(stdin, "w"), wire.STDOUT: FileIO(os.dup(ours))}
        channel = Channel(connection, pipes, FileIO(ours))
        channel.resize(size.rows, size.columns)
    os.set_blocking(stdin, False)
    with ExitStack() as undo:
        undo.callback(channel.close)
        try:
            socket.send_fds(connection, [msgspec.msgpack.encode(request)], its)
            async with asyncio.timeout(ANSWER_S):
                answer = await channel.answer()
        except (OSError, TimeoutError):
            return None
        finally:
            for fd in its:
                os.close(fd)
        if answer is None or isinstance(answer, wire.Refused):
            return answer
        channel.ended = answer if isinstance(answer, wire.Ended) else None
        undo.pop_all()
    return channel


Frames = AsyncIterator[tuple[int, bytes]]


@post(
    "/v1/batches/{b:str}/jobs/{j:str}/exec",
    Right.EXEC,
    Permission.ALL,
    status_code=200,
    opt={"reads": wire.MEDIA, "bytes": (wire.MEDIA,), "refuses": (408, 409)},
)
async def exec_job(request: AnyRequest) -> Stream:
    """Run a command beside a running job: as its user, in its directory, environment and cgroup.
    Both bodies are frames, a byte for the kind and four for the length. Sent are 0, a document
    `{"command": [...]}`, then 1 input (none: its end) and 2 a byte, the number of a signal; at
    most 256 KiB of input that were not taken. Answered are 0, how many bytes of input were taken,
    in digits, 1 standard output, 2 standard error, and 3, `["ended", exit_code, with_job, why]`.
    With `"terminal": {"rows": 24, "columns": 80, "name": "xterm"}` its streams are a terminal that
    writes 1, and a sent 3 with two numbers of two bytes, rows and columns, resizes it.
    The command ends when this request does, and with its job.
    With `"port": 8888` and no command it is a relay to that port as the job sees it, which carries
    many connections in input and output; its frames are in `weft/extensions/exec/relay.py`.
    """
    services, caller = request.services, request.caller
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    attempts = await services.store.list_attempts(caller, batch_id, job_id)
    frames = wire.frames(body_of(request))
    document = await _document(frames, services.settings)
    of, name = live_attempt(attempts, batch_id, job_id), format_job_ref(batch_id, job_id)
    if of is None:
        raise _refusal(wire.Refused(JobNotRunning.code, "no process of it runs"), name)
    action = action_of(request.scope)
    what = f"port {document.port}" if document.port else shlex.join(document.command)
    words = f"{action.path} {what}".replace("\0", "\\0")
    logs = await services.store.list_attempt_logs(caller, batch_id, [job_id], of.key.attempt)
    database = logs[0].directory.path.rpartition("/")[2] if logs and logs[0].directory else ""
    await services.store.record_request(replace(action, path=words[:PATH_CHARS_MAX]))
    settings = services.settings
    channel = await begin(
        Home(settings.home).run / f"spawner-{file_name(of.worker)}.sock{wire.SUFFIX}",
        wire.Begin(
            of.key,
            database,
            (*_RELAY, str(document.port)) if document.port else document.command,
            settings.exec_job_max,
            caller.tenant_id,
            document.terminal.name if document.terminal else "",
            bool(document.port),
        ),
        document.terminal,
    )
    if channel is None:
        channel = wire.Refused(ExecElsewhere.code, f"worker {of.worker} is not on this host")
    if isinstance(channel, wire.Refused):
        raise _refusal(channel, name)
    return _Answer(channel, frames)


class _Answer(Stream):
    """What a command writes, while it gets what the client sends."""

    def __init__(self, channel: Channel, frames: Frames) -> None:
        unbuffered = {"x-accel-buffering": "no"}
        super().__init__(
            channel.frames(), media_type=wire.MEDIA, status_code=200, headers=unbuffered
        )
        self._channel = channel
        self._frames = frames

    async def hear(self, receive: Receive) -> None:
        """Give the command what comes for it; return when the client is gone or sends nonsense."""
        with suppress(ClientGone, MalformedBody):
            async for kind, data in self._frames:
                if kind == wire.SIGNAL and len(data) == 1:
                    self._channel.signal(data[0])
                elif kind == wire.RESIZE and len(data) == wire.SIZE.size:
                    self._channel.resize(*wire.SIZE.unpack(data))
                elif kind != wire.STDIN or not self._channel.put(data):
                    return
            await super().hear(receive)


async def _document(frames: Frames, settings: Settings) -> wire.ExecDocument:
    """Return the first frame. Raise `InvalidDocument` and the like."""
    async with in_time(settings, "Send the document first, and the input after it."):
        kind, data = await anext(frames, (-1, b""))
    if kind != wire.BEGIN or len(data) > wire.COMMAND_BYTES_MAX:
        most = wire.COMMAND_BYTES_MAX
        raise wire.malformed(f"The first frame is not a document of at most {most} bytes.")
    return decode(data, JSON, wire.ExecDocument)


def _refusal(refused: wire.Refused, name: str) -> WeftError:
    kind = next((kind for kind in error_classes() if kind.code == refused.code), InvalidValue)
    detail = f"{refused.why[:1].upper()}{refused.why[1:]}."
    return kind(f"no command can run beside {name}", detail=detail)


PART: Final = ApiPart(routes=(exec_job,))
