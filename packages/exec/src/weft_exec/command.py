"""`weft exec`: run a command beside a running job, with its streams and its exit code; and
`weft forward`: a port of this host that leads to one of the job.
"""

import asyncio
import os
import re
import signal
import termios
import threading
import tty
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence
from concurrent.futures import CancelledError
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Annotated, Final, Self

from weft.cli.input.job_document import NoCommand
from weft.cli.input.options import SHARED, Parameter, Shared
from weft.cli.input.stdin_text import STDIN, has_stdin, read_waiting
from weft.cli.terminal.interrupts import Interrupts
from weft.cli.terminal.raw_output import write_all
from weft.cli.terminal.report import note
from weft.client.http.exec_calls import Exec
from weft.core.errors import Conflict, Invalid, Unavailable
from weft.core.ids import format_job_ref, parse_job_ref
from weft.wire.exec import STDOUT
from weft_exec.relay import LIVE_MAX, OPEN, Carrier

_LEAVING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""No key sends them while the command has the terminal: they are for this process."""
_UNKNOWN: Final = "xterm"
_SIGNALLED: Final = 128


class NoTerminal(Invalid, code="CLI.NO_TERMINAL"):
    """A terminal for a command was asked for where standard input is not one."""


class LentTerminal:
    """Standard input as the terminal of a command. However this is left, it is as before."""

    def __init__(self, running: Exec) -> None:
        self.left_by = 0
        """The signal at which this process left the command."""
        self._running = running
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._resized, self._telling = asyncio.Event(), self._loop.create_task(self._tell_sizes())
        self._before = termios.tcgetattr(STDIN)

    def __enter__(self) -> Self:
        for number in _LEAVING:
            self._loop.add_signal_handler(number, self.leave, number)
        self._loop.add_signal_handler(signal.SIGWINCH, self._resized.set)
        tty.setraw(STDIN, termios.TCSADRAIN)  # what was typed ahead is kept
        self._resized.set()  # it may have been since the start
        return self

    def __exit__(self, *_: object) -> None:
        self._telling.cancel()
        with suppress(termios.error):  # it has gone
            termios.tcsetattr(STDIN, termios.TCSANOW, self._before)
        for number in (*_LEAVING, signal.SIGWINCH):
            self._loop.remove_signal_handler(number)

    def leave(self, number: int) -> None:
        """Leave the command, which ends it."""
        if self._task is not None and not self.left_by:
            self.left_by = number
            self._task.cancel()

    async def _tell_sizes(self) -> None:
        """Tell of one size at a time: the one that it has once the last was sent."""
        while await self._resized.wait():
            self._resized.clear()
            with suppress(OSError):
                columns, rows = os.get_terminal_size(STDIN)
                await self._running.resize(rows, columns)


def exec_(
    target: str,
    /,
    *command: str,
    no_stdin: Annotated[bool, Parameter(name=["--no-stdin", "-n"], negative="")] = False,
    terminal: Annotated[bool, Parameter(name=["--terminal", "-t"], negative="")] = False,
    shared: Shared = SHARED,
) -> int:
    """Run a command beside a running job: as its user, in its directory and environment.

    Ctrl-C interrupts the command, a second one ends it. It ends with the job, too.

        weft exec b12.j7 -- sh -c 'ps; ls -l'
        weft exec -t b12.j7 -- sh

    Args:
        target: `b12.j7`.
        command: Program and arguments, after `--`.
        no_stdin: Do not read standard input; the command reads nothing.
        terminal: Give the command a terminal: this one, which must be standard input.
    """
    if not command:
        raise NoCommand(
            "nothing to run", hint=f"Write it after two hyphens: `weft exec {target} -- ps`."
        )
    if terminal and (no_stdin or shared.json or not os.isatty(STDIN)):
        left_out = no_stdin or shared.json
        raise NoTerminal(
            "a command cannot have a terminal here",
            detail="With -n and --json it has none."
            if left_out
            else "Standard input is not a terminal.",
            hint="Leave -t out: the command then reads standard input as it is.",
        )
    reads = terminal or (not no_stdin and has_stdin())
    request = (shared, *parse_job_ref(target), command)
    return asyncio.run(_exec(*request, has_terminal=terminal, reads=reads))


async def _exec(
    shared: Shared,
    batch_id: int,
    job_id: int,
    command: Sequence[str],
    *,
    has_terminal: bool,
    reads: bool,
) -> int:
    size = None
    if has_terminal:
        columns, rows = os.get_terminal_size(STDIN)
        size = {"rows": rows, "columns": columns, "name": os.environ.get("TERM") or _UNKNOWN}
    async with shared.client() as client:
        running = await client.begin_exec(batch_id, job_id, command, size)
        interrupts = Interrupts(lambda: running.signal(interrupts.number), "")
        lent = LentTerminal(running) if has_terminal else None
        with lent or interrupts:
            if reads:
                feed = partial(_feed, running, asyncio.get_running_loop(), lent)
                threading.Thread(target=feed, daemon=True).start()
            try:
                end = await running.run(None if reads else b"", None if shared.json else _print)
            except asyncio.CancelledError:
                if lent is None or not lent.left_by:
                    raise
                return _SIGNALLED + lent.left_by
    if end.with_job and not shared.json:
        note(f"b{batch_id}.j{job_id} has ended, and the command with it")
    stdout, stderr = (text.decode(errors="replace") for text in (end.stdout, end.stderr))
    shared.as_json({"exit_code": end.exit_code, "stdout": stdout, "stderr": stderr})
    return end.exit_code


async def _print(kind: int, data: bytes) -> None:
    await asyncio.to_thread(write_all, kind, data)  # the kinds are their descriptors


def _feed(running: Exec, loop: asyncio.AbstractEventLoop, lent: LentTerminal | None) -> None:
    """Send standard input as it comes: in a thread that nobody waits for."""
    data = b"begin"
    with suppress(CancelledError, RuntimeError):  # nor reads from it
        while data:
            data = b""
            with suppress(OSError):
                data = read_waiting(STDIN)
            if loop.is_closed():
                return
            if lent is not None and not data:  # it has gone
                loop.call_soon_threadsafe(lent.leave, signal.SIGHUP)
                return
            asyncio.run_coroutine_threadsafe(running.write(data), loop).result()


_HERE = "127.0.0.1"
_PORT_MAX = 65_535


class BadPort(Invalid, code="CLI.BAD_PORT"):
    """A port that there cannot be."""

    advice = "Write 8888, or 9000:8888 for port 9000 here; :8888 takes a port that is free."


class PortTaken(Conflict, code="CLI.PORT_TAKEN"):
    """A port of this host cannot be listened at."""


class ForwardFailed(Unavailable, code="CLI.FORWARD_FAILED"):
    """The relay beside the job, which connects to its port, does not run."""

    advice = (
        "It is the worker's Python and runs as the job's user, who must be able to run that, with "
        "some 20 MB of the job's memory; `weft exec` shows what the job's user can do there."
    )


def forward(target: str, ports: str, /, *, shared: Shared = SHARED) -> int:
    """Reach a port of a running job from here, until Ctrl-C or the end of the job.

    Only programs of this host can connect: it listens at 127.0.0.1.

        weft forward b12.j7 8888
        weft forward b12.j7 9000:8888

    Args:
        target: `b12.j7`.
        ports: The job's port, after that of this host and a colon if they differ.
    """
    here, colon, there = ports.rpartition(":")
    port = _port(there)
    local = 0 if colon and not here else _port(here or there)
    return asyncio.run(_forward(shared, *parse_job_ref(target), port, local))


def _port(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,4}", text) or int(text) > _PORT_MAX:
        raise BadPort(f"{text[:80]!r} is no port", detail=f"Ports are 1 to {_PORT_MAX}.")
    return int(text)


async def _forward(shared: Shared, batch_id: int, job_id: int, port: int, local: int) -> int:
    job, ready = format_job_ref(batch_id, job_id), asyncio.Event()

    async def connect(reader: StreamReader, writer: StreamWriter) -> None:
        await ready.wait()
        if (number := carrier.add()) is None:
            note(f"{LIVE_MAX} connections are open, and no more can be: one was closed")
            writer.close()
            return
        await carrier.send(OPEN, number)
        await carrier.carry(number, reader, writer)

    def begin(_: int) -> None:
        ready.set()
        url = f"http://{_HERE}:{local}"
        document = {"url": url, "host": _HERE, "port": local, "job": job, "job_port": port}
        text = f"{url} leads to port {port} of {job}; Ctrl-C ends it"
        shared.tell(document, text, partial(print, flush=True))

    async def take(kind: int, data: bytes) -> None:
        if kind == STDOUT:
            carrier.feed(data)
        else:
            errors.append(data)
            del errors[:-8]

    try:
        server = await asyncio.start_server(connect, _HERE, local)
    except OSError as error:
        hint = f"`weft forward {job} :{port}` takes a port that is free."
        raise PortTaken(f"port {local} is not free", detail=f"{error}.", hint=hint) from error
    local = server.sockets[0].getsockname()[1]
    errors: list[bytes] = []
    async with AsyncExitStack() as stack:
        stack.callback(server.close)
        client = await stack.enter_async_context(shared.client())
        relay = await client.begin_exec(batch_id, job_id, (), port=port)
        carrier = Carrier(
            relay.write,
            begin,
            lambda: note(f"nobody listens at port {port} of {job}: a connection was closed"),
        )
        end = await relay.run(None, take)
    if not end.with_job:
        detail = b"".join(errors).decode(errors="replace").strip()[-500:]
        raise ForwardFailed(
            f"no relay runs beside {job}", detail=detail or f"It ended with {end.exit_code}."
        )
    note(f"{job} has ended, and the forward with it")
    return end.exit_code
