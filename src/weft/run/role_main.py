"""The main function of every role: settings, log, signals, and an exit code."""

import asyncio
import resource
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol

from weft.core.errors import Unavailable, WeftError
from weft.faults import ARMED
from weft.ports.patience import until_answered
from weft.run import collect_garbage
from weft.run.child import end_with_supervisor, log_failure, role_name, wait_until_let_run
from weft.settings import Settings, load_settings
from weft.store.errors import SchemaTooOld
from weft.telemetry.log import configure, log, read_lines
from weft.wire.processes import reset_signals

new_event_loop = asyncio.new_event_loop
with suppress(ModuleNotFoundError):  # of the extra `server`: a worker works without it
    from uvloop import new_event_loop

SCHEMA_CHECK_S = 1.0
"""Between two looks at a schema that was too old when the role started."""
Told = asyncio.Queue[signal.Signals]
"""Where the signals arrive that tell a role to stop."""
Live = Callable[[Settings, str, Told], Coroutine[Any, Any, int]]


class _TooNew(Exception):
    """The schema that this program needs is not there yet; nothing has begun."""


def run_role(kind: str, live: Live) -> int:
    """Run a role until it ends; return the exit code."""
    leave_no_core_dump()
    reset_signals()
    name = role_name(kind)
    configure(level="info", format="auto", role=name)  # until the settings are known
    try:
        settings = load_settings()
        read_lines(name)
        configure(level=settings.log_level, format=settings.log_format, role=name)
        if ARMED:
            log.error("role.faults_armed", points=sorted(ARMED))
        collect_garbage()
        wait_until_let_run()
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            return runner.run(_live_once_migrated(settings, name, live))
    except WeftError as error:
        log_failure(error)
        return error.exit_code


async def _live_once_migrated(settings: Settings, name: str, live: Live) -> int:
    """Live as soon as the schema serves this program; say once for what it waits."""
    told, said = stop_signals(), ""
    while told.empty():
        try:
            return await live(settings, name, told)
        except _TooNew as error:
            (missing,) = error.args
        if missing.detail != said:
            said = missing.detail
            log.warning("role.waiting", error=missing.message, detail=said, hint=missing.hint)
        with suppress(TimeoutError):
            async with asyncio.timeout(SCHEMA_CHECK_S):
                told.put_nowait(await told.get())
    log.info("role.stopped", ms=0)
    return 0


def leave_no_core_dump() -> None:
    """Let nothing be dumped: it may hold values of secrets. One byte, because 0 does not stop
    dumps that go to a program. Source: Linux, fs/coredump.c.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0 if hard == 0 else 1, hard))


def stop_signals() -> Told:
    """Return where SIGTERM and SIGINT arrive from now on. The supervisor's death is a SIGTERM."""
    told = Told()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.put_nowait, number)
    end_with_supervisor()
    return told


class SchemaChecker(Protocol):
    """A store that compares this program with the schema of its database."""

    async def check_schema(self) -> None:
        """Raise `Conflict` if they do not fit, `Unavailable` if the database does not answer."""


async def begin_schema_check(store: SchemaChecker) -> asyncio.Task[Any]:
    """Check the schema now; if the database is away, check when it answers.

    The task ends only with the reason why this program cannot use the database.
    """
    try:
        await store.check_schema()
    except Unavailable:
        return asyncio.create_task(_check_when_answered(store))
    except SchemaTooOld as error:
        raise _TooNew(error) from error
    return asyncio.create_task(asyncio.Event().wait())


async def _check_when_answered(store: SchemaChecker) -> None:
    await until_answered(store.check_schema)
    await asyncio.Event().wait()


async def succeeded(told: Told, begun: asyncio.Task[Any]) -> bool:
    """Wait for a step of the start; return False if the role is told to stop before it is done."""
    stopping = asyncio.create_task(told.get())
    await asyncio.wait({begun, stopping}, return_when=asyncio.FIRST_COMPLETED)
    (stopping if begun.done() else begun).cancel()
    return begun.done()


async def until_told(told: Told, *running: asyncio.Task[Any]) -> bool:
    """Return True when the role is told to stop, False when one of its tasks has ended by itself;
    raise what made a task fail.
    """
    stopping = asyncio.create_task(told.get())
    await asyncio.wait({*running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    for task in running:
        if task.done():
            task.result()
    if not stopping.done():
        stopping.cancel()
        return False
    log.info("role.stopping", signal=stopping.result().name)
    return True
