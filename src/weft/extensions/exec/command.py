"""`weft exec`: run a command beside a running job, with its streams and its exit code."""

import asyncio
import threading
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Annotated

from weft.cli.input.job_document import NoCommand
from weft.cli.input.options import SHARED, Parameter, Shared
from weft.cli.input.stdin_text import STDIN, has_stdin, read_waiting
from weft.cli.terminal.interrupts import Interrupts
from weft.cli.terminal.raw_output import write_all
from weft.cli.terminal.report import note
from weft.client.http.exec_calls import Exec
from weft.core.ids import parse_job_ref


def exec_(
    target: str,
    /,
    *command: str,
    no_stdin: Annotated[bool, Parameter(name=["--no-stdin", "-n"], negative="")] = False,
    shared: Shared = SHARED,
) -> int:
    """Run a command beside a running job: as its user, in its directory and environment.

    Ctrl-C interrupts the command, a second one ends it. It ends with the job, too.

        weft exec b12.j7 -- sh -c 'ps; ls -l'

    Args:
        target: `b12.j7`.
        command: Program and arguments, after `--`.
        no_stdin: Do not read standard input; the command reads nothing.
    """
    batch_id, job_id = parse_job_ref(target)
    if not command:
        raise NoCommand(
            "nothing to run", hint=f"Write it after two hyphens: `weft exec {target} -- ps`."
        )
    reads = not no_stdin and has_stdin()
    return asyncio.run(_exec(shared, batch_id, job_id, command, reads=reads))


async def _exec(
    shared: Shared, batch_id: int, job_id: int, command: tuple[str, ...], *, reads: bool
) -> int:
    async with shared.client() as client:
        running = await client.begin_exec(batch_id, job_id, command)
        if reads:
            given = (running, asyncio.get_running_loop())
            threading.Thread(target=_feed, args=given, daemon=True).start()
        with Interrupts(lambda: running.signal(interrupts.number), "") as interrupts:
            end = await running.run(None if reads else b"", None if shared.json else _print)
    if end.with_job and not shared.json:
        note(f"b{batch_id}.j{job_id} has ended, and the command with it")
    stdout, stderr = (text.decode(errors="replace") for text in (end.stdout, end.stderr))
    shared.as_json({"exit_code": end.exit_code, "stdout": stdout, "stderr": stderr})
    return end.exit_code


async def _print(kind: int, data: bytes) -> None:
    await asyncio.to_thread(write_all, kind, data)  # the kinds are their descriptors


def _feed(running: Exec, loop: asyncio.AbstractEventLoop) -> None:
    """Send standard input as it comes: in a thread that nobody waits for."""
    data = b"begin"
    with suppress(CancelledError, RuntimeError):  # nor reads from it
        while data:
            data = b""
            with suppress(OSError):
                data = read_waiting(STDIN)
            if loop.is_closed():
                return
            asyncio.run_coroutine_threadsafe(running.write(data), loop).result()
