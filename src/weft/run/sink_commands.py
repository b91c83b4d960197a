"""Programs of sinks: each message is the standard input of a process of its own.

A program that takes too long is killed with all that it started. Its environment holds no settings
and no secrets.
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from weft.core.deliveries.sinks import COMMAND
from weft.core.ends.end_words import signal_name
from weft.ports.callback_sender import Answered
from weft.ports.sink import SinkMessage
from weft.run.host.process_group import kill_group

DELIVERY_VARIABLE: Final = "WEFT_DELIVERY"
"""The name of the delivery, the same in every try."""
_SAID_BYTES: Final = 4096
_SAID_CHARS_MAX: Final = 300
_PIECE_BYTES: Final = 1 << 16
_ENVIRONMENT: Final = ("HOME", "LANG", "LC_ALL", "PATH", "TZ")


class SinkCommands:
    """Runs programs that the setting `sink_commands` names."""

    def __init__(self, programs: Mapping[str, str]) -> None:
        self._programs = programs

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        """Run the program of a sink once; its exit code is the status."""
        name, *arguments = sink["command"]
        program = self._programs.get(name)
        if program is None:
            return Answered(error=f"there is no command {name!r} in the setting sink_commands")
        kept = {one: os.environ[one] for one in _ENVIRONMENT if one in os.environ}
        try:
            process = await asyncio.create_subprocess_exec(
                program, *arguments, stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, cwd="/",
                start_new_session=True, env={**kept, DELIVERY_VARIABLE: message.name},
            )  # fmt: skip
        except OSError as error:
            return Answered(error=f"{COMMAND}{name}: {error.strerror}")
        try:
            async with asyncio.timeout(sink["timeout_s"]):
                said = await _talk(process, message.body)
                code = await process.wait()
        except TimeoutError:
            return Answered(error=f"it did not end within {sink['timeout_s']:g} s")
        finally:
            kill_group(process)
            await process.wait()
        if code < 0:
            return Answered(error=f"it was killed by {signal_name(-code)}")
        return Answered(status=code, error=said or None, delivered=code == 0)

    async def close(self) -> None:
        """A program ends with its message."""


async def _talk(process: asyncio.subprocess.Process, body: bytes) -> str:
    """Give it the message; return the last line that it says."""
    writing = asyncio.create_task(_write(process, body))
    assert process.stderr is not None
    last = b""
    try:
        while piece := await process.stderr.read(_PIECE_BYTES):
            last = (last + piece)[-_SAID_BYTES:]
        await writing
    finally:
        writing.cancel()
    lines = last.decode(errors="replace").strip().splitlines()
    return lines[-1][:_SAID_CHARS_MAX].replace("\0", "") if lines else ""


async def _write(process: asyncio.subprocess.Process, body: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):  # it need not read all
        process.stdin.write(body)
        await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()
