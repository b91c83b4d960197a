"""`weft exec`: run a command beside a running job, with its streams and its exit code."""

import asyncio
import os
import signal
import termios
import threading
import tty
from collections.abc import Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from typing import Annotated, Final, Self

from weft.cli.input.job_document import NoCommand
from weft.cli.input.options import SHARED, Parameter, Shared
from weft.cli.input.stdin_text import STDIN, has_stdin, read_waiting
from weft.cli.terminal.interrupts import Interrupts
from weft.cli.terminal.raw_output import write_all
from weft.cli.terminal.report import note
from weft.client.http.exec_calls import Exec
from weft.core.errors import Invalid
from weft.core.ids import parse_job_ref

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
        tty.setraw(STDIN)
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
    given = (shared, *parse_job_ref(target), command)
    return asyncio.run(_exec(*given, has_terminal=terminal, reads=reads))


async def _exec(
    shared: Shared, batch_id: int, job_id: int, command: Sequence[str], *,
    has_terminal: bool, reads: bool,
) -> int:  # fmt: skip
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
