"""What the main function of every role does: settings, log, signals, and an exit code."""

import asyncio
import gc
import signal
from collections.abc import Callable, Coroutine
from typing import Any

from weft.core.errors import WeftError
from weft.run.child import end_with_supervisor, role_name
from weft.settings import Settings, load_settings
from weft.telemetry.log import configure, get_logger

log = get_logger()

Told = asyncio.Queue[signal.Signals]
"""Where the signals arrive that tell a role to stop."""


def run_role(kind: str, live: Callable[[Settings, str], Coroutine[Any, Any, int]]) -> int:
    """Run a role until it ends; return the exit code."""
    name = role_name(kind)
    try:
        settings = load_settings()
        configure(level=settings.log_level, format=settings.log_format, role=name)
        # What was imported stays: the collector need not look through it again and again.
        gc.collect()
        gc.freeze()
        return asyncio.run(live(settings, name))
    except WeftError as error:
        log_failure(error)
        return error.exit_code


def log_failure(error: WeftError) -> None:
    """Say why a role cannot go on, without a trace: it is no defect."""
    log.error(
        "role.failed",
        code=error.code,
        error=error.message,
        detail=error.detail,
        hint=error.hint,
    )


def stop_signals() -> Told:
    """Return where SIGTERM and SIGINT arrive from now on. The supervisor's death is a SIGTERM."""
    told = Told()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.put_nowait, number)
    end_with_supervisor()
    return told


async def until_told(told: Told, running: asyncio.Task[None]) -> None:
    """Return when the role is told to stop; raise what ended it before."""
    stopping = asyncio.create_task(told.get())
    await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        running.result()
    log.info("role.stopping", signal=stopping.result().name)
