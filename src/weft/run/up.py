"""`weft up`: all roles of one home on this machine.

    run_up ──▶ Supervisor (supervisor.py) ──▶ postgres, api, driver, worker (role_process.py)
       └─ --detach ──▶ the same in a process of its own (detach.py)

A home is held by one supervisor at a time (`Home.locked`). If that is killed, its roles end by
themselves (child.py), and the next `weft up` ends what is left (leftovers.py) and goes on.
"""

import asyncio
import os
import signal
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace

import msgspec

from weft.core.errors import WeftError
from weft.ports.patience import end_tasks
from weft.run import collect_garbage
from weft.run.child import log_failure
from weft.run.detach import Answer, answer_error, receive_settings
from weft.run.down import summary_of
from weft.run.home import Home
from weft.run.log_follow import following
from weft.run.metrics_file import leaving_metrics
from weft.run.supervisor import Supervisor
from weft.settings import Settings
from weft.telemetry.log import configure, log
from weft.wire.processes import reset_signals

_STEP_S = 1.0


def run_up(settings: Settings, *, as_json: bool = False) -> int:
    """Run weft on the settings' home until it is told to stop; return the exit code.

    Raises `WeftError`s that say why it cannot start: `HomeInUse`, `HomeNotUsable`, `PortInUse`,
    `SchemaTooNew`, ….
    """
    home = Home(settings.home)
    home.prepare()
    terminal = os.isatty(sys.stderr.fileno())
    if terminal and settings.log_format == "auto":
        settings = replace(settings, log_format="console")
    configure(level=settings.log_level, format=settings.log_format, role="up")
    announcement = _Announcement(settings, as_json=as_json)
    with home.locked():
        code = asyncio.run(_live(settings, home, announcement, follow=True))
    announcement.stopped()
    return code


class _Announcement:
    """The answer when all is ready: a summary for the user at the terminal."""

    def __init__(self, settings: Settings, *, as_json: bool = False) -> None:
        self._settings = settings
        self._as_json = as_json
        self.wants_link = sys.stdout.isatty() and not as_json
        """Whether nobody but the user sees what is said."""

    def ready(self, url: str, link: str | None) -> None:
        """Say it on standard output. `link`: logs a browser in."""
        with suppress(OSError):  # nobody reads: `weft up | head -1`
            text = summary_of(self._settings, url, link, detached=False, as_json=self._as_json)
            sys.stdout.write(text)
            sys.stdout.flush()

    def doing(self, step: str) -> None:
        """Say on standard error what takes so long."""
        with suppress(OSError):
            sys.stderr.write(f"weft: {step} …\n")

    def warn(self, text: str) -> None:
        """Say on standard error what whoever starts it should know."""
        with suppress(OSError):
            sys.stderr.write(f"weft: warning: {text}\n")

    def stopped(self) -> None:
        """Say on standard error, behind the log, that all has ended."""
        if not self._as_json:
            with suppress(OSError):
                sys.stderr.write(
                    f"weft on {self._settings.home} has stopped; `weft up` starts it\n"
                )


class _PipeAnnouncement(_Announcement):
    """The same for the process that waits at the other end of a pipe."""

    def __init__(self, settings: Settings, pipe: int) -> None:
        super().__init__(settings)
        self._pipe = pipe
        self.wants_link = False

    def doing(self, step: str) -> None:
        """Say it through the pipe."""
        with suppress(OSError):
            os.write(self._pipe, msgspec.json.encode(Answer(doing=step)) + b"\n")

    def warn(self, text: str) -> None:
        """Say it through the pipe."""
        with suppress(OSError):
            os.write(self._pipe, msgspec.json.encode(Answer(warning=text)) + b"\n")

    def ready(self, url: str, link: str | None) -> None:  # noqa: ARG002 (there is none)
        """Say it through the pipe."""
        answer(self._pipe, Answer(url=url))


async def _live(
    settings: Settings, home: Home, announcement: _Announcement, *, follow: bool
) -> int:
    """Start, wait for a signal, stop. A second signal hurries the stop."""
    reset_signals()
    signals: asyncio.Queue[signal.Signals] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for number in _stop_signals():
        loop.add_signal_handler(number, signals.put_nowait, number)
    supervisor = Supervisor(settings, home)
    async with leaving_metrics(home, "up", every_s=settings.heartbeat_s):
        with _followed(supervisor, home) if follow else nullcontext():
            await _live_until_told(supervisor, announcement, signals)
    return 0


async def _live_until_told(
    supervisor: Supervisor, announcement: _Announcement, signals: asyncio.Queue[signal.Signals]
) -> None:
    started = asyncio.create_task(supervisor.start())
    task = asyncio.create_task(signals.get())
    telling = asyncio.create_task(_tell_steps(supervisor, announcement))
    await asyncio.wait({started, task}, return_when=asyncio.FIRST_COMPLETED)
    await end_tasks([telling])
    try:
        if not task.done():
            await started
            collect_garbage()
            link = None
            if announcement.wants_link:
                from weft.run.login import login_link  # noqa: PLC0415 (after the start)

                link = await login_link(supervisor.home)
            log.info("up.started", url=supervisor.url, home=str(supervisor.home.path))
            if supervisor.warning:
                announcement.warn(supervisor.warning)
            announcement.ready(supervisor.url, link)
            await _until_told(task, supervisor)
        log.info("up.stopping", signal=task.result().name)
    finally:
        await end_tasks((task, started))
        await _stop(supervisor, signals)


async def _tell_steps(supervisor: Supervisor, announcement: _Announcement) -> None:
    """Say each second what is done, if that is something else."""
    said = ""
    while True:
        await asyncio.sleep(_STEP_S)
        if supervisor.doing != said:
            said = supervisor.doing
            announcement.doing(said)


def _stop_signals() -> list[signal.Signals]:
    """Return the signals that end us: Ctrl-C, `kill`, and SIGHUP unless under `nohup`."""
    ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([] if ignored else [signal.SIGHUP])]


async def _until_told(task: asyncio.Task[signal.Signals], supervisor: Supervisor) -> None:
    broken = asyncio.create_task(supervisor.until_broken())
    await asyncio.wait({task, broken}, return_when=asyncio.FIRST_COMPLETED)
    if broken.done():
        broken.result()
    broken.cancel()


def _followed(supervisor: Supervisor, home: Home) -> AbstractContextManager[None]:
    paths = {name: home.role_logs / f"{name}.log" for name in supervisor.names()}
    return following(paths, sys.stderr.buffer)


async def _stop(supervisor: Supervisor, signals: asyncio.Queue[signal.Signals]) -> None:
    orderly = asyncio.create_task(supervisor.stop())
    again = asyncio.create_task(signals.get())
    await asyncio.wait({orderly, again}, return_when=asyncio.FIRST_COMPLETED)
    if not orderly.done():
        await end_tasks([orderly])
        await supervisor.stop(hurry=True)
    else:
        await orderly
        again.cancel()


def answer(pipe: int, message: Answer) -> None:
    """Write the one answer of a detached supervisor. Nobody may be waiting for it any more."""
    with suppress(OSError), os.fdopen(pipe, "wb") as file:
        file.write(msgspec.json.encode(message))


def main(arguments: list[str]) -> int:
    """Be the detached supervisor: settings on standard input, the answer's pipe as argument."""
    pipe = int(arguments[0])
    settings = receive_settings(sys.stdin.buffer.read())
    configure(level=settings.log_level, format=settings.log_format, role="up")
    home = Home(settings.home)
    try:
        with home.locked():
            announcement = _PipeAnnouncement(settings, pipe)
            return asyncio.run(_live(settings, home, announcement, follow=False))
    except WeftError as error:
        log_failure(error)
        answer(pipe, answer_error(error))
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
