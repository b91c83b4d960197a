"""`weft up` and `weft down`: all roles of one home on this machine.

    run_up ──▶ Supervisor (supervisor.py) ──▶ postgres, api, driver, worker (role_process.py)
       └─ --detach ──▶ the same in a process of its own (detach.py)

A home is held by one supervisor at a time (`Home.locked`). If that is killed, its roles end by
themselves (child.py), and the next `weft up` ends what is left (leftovers.py) and goes on.
"""

import asyncio
import os
import shlex
import signal
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from weft.core.errors import WeftError
from weft.run.detach import Answer, answer_error, receive_settings, start_detached
from weft.run.home import Home, HomeInUse
from weft.run.host.leftovers import end_roles, end_spawners
from weft.run.log_follow import following
from weft.run.login_link import login_link
from weft.run.metrics_file import leaving_metrics
from weft.run.supervisor import Supervisor
from weft.settings import Settings, default_home
from weft.store.embedded import EmbeddedServer
from weft.telemetry.log import configure, get_logger
from weft.wire.processes import end_process, reset_signals

log = get_logger()

_DOWN_S = 15.0
_STEP_S = 1.0


def run_up(settings: Settings, *, detach: bool, as_json: bool = False) -> int:
    """Run weft on the settings' home until it is told to stop; return the exit code.

    `detach`: return when all is ready. Raises `WeftError`s that say why it cannot start:
    `HomeInUse`, `HomeNotUsable`, `PortInUse`, `SchemaTooNew`, ….
    """
    home = Home(settings.home)
    home.prepare()
    if detach:
        holder = home.holder()
        if holder is not None:
            raise HomeInUse(home.path, holder)
        url = start_detached(settings, home)
        sys.stdout.write(_summary(settings, url, detached=True, as_json=as_json))
        return 0
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
            text = _summary(self._settings, url, link, detached=False, as_json=self._as_json)
            sys.stdout.write(text)
            sys.stdout.flush()

    def doing(self, step: str) -> None:
        """Say on standard error what takes so long."""
        with suppress(OSError):
            sys.stderr.write(f"weft: {step} …\n")

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
    telling.cancel()
    try:
        if not task.done():
            await started
            link = await login_link(supervisor.home) if announcement.wants_link else None
            log.info("up.started", url=supervisor.url, home=str(supervisor.home.path))
            announcement.ready(supervisor.url, link)
            await _until_told(task, supervisor)
        log.info("up.stopping", signal=task.result().name)
    finally:
        task.cancel()
        started.cancel()
        await asyncio.gather(started, return_exceptions=True)
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
        orderly.cancel()
        await asyncio.gather(orderly, return_exceptions=True)
        await supervisor.stop(hurry=True)
    else:
        again.cancel()
        await orderly


def run_down(directory: Path, *, as_json: bool = False) -> int:
    """Stop weft in this home, and the remains of a killed one; return the exit code.

    It is no error if nothing runs. Detached jobs (`--detach-jobs`) run on. It reads no settings:
    a broken file must not keep weft running.
    """
    home = Home(directory)
    pid = home.holder()
    if pid is not None:
        end_process(
            pid,
            dict.fromkeys((signal.SIGTERM, signal.SIGINT, signal.SIGKILL), _DOWN_S),
            is_meant=home.is_held_by,
        )
    ended = _end_leftovers(home, jobs_too=pid is None) if home.run.is_dir() else []
    has_run = pid is not None or bool(ended)
    told = (
        f"weft on {home.path} has stopped." if has_run else f"weft is not running on {home.path}."
    )
    sys.stdout.write(f"{_json(home=str(home.path), stopped=has_run) if as_json else told}\n")
    return 0


def _json(**facts: object) -> str:
    return msgspec.json.encode(facts).decode()


def _end_leftovers(home: Home, *, jobs_too: bool) -> list[int]:
    with home.locked():
        ended = end_roles(home.path)
        if jobs_too:
            ended += end_spawners(home.path)
        server = EmbeddedServer(home.pg, home.run / "pg")
        if server.pid is not None:
            ended.append(server.pid)
        if server.is_initialised:
            server.stop()
        return ended


def _summary(
    settings: Settings, url: str, link: str | None = None, *, detached: bool, as_json: bool
) -> str:
    if as_json:
        return _json(url=url, home=str(settings.home), logs=str(settings.home / "log")) + "\n"
    # In another terminal the variable may be missing; in this one it may name another home.
    known = default_home(os.environ if detached else {}).absolute() == settings.home
    hint = "" if known else f"  export WEFT_HOME={shlex.quote(str(settings.home))}\n"
    down = "weft down" if known else f"weft down --home {shlex.quote(str(settings.home))}"
    pages = (
        "weft open, which makes a link that logs a browser in"
        if link is None
        else f"{link}\n         once, within 5 minutes; `weft open` makes another link"
    )
    stop = down if detached else f"Ctrl-C here, or {down}"
    return (
        f"\nweft is ready at {url}\n"
        f"  home   {settings.home}\n"
        f"  logs   {settings.home / 'log'}\n"
        f"  stop   {stop}\n"
        f"  pages  {pages}\n"
        f"\nTry{'' if detached else ' in another terminal'}:\n"
        f"{hint}"
        "  weft run -- echo hello\n"
        "  seq 100 | weft each -- sh -c 'echo {} squared is $(({} * {}))'\n"
        "  weft top\n\n"
    )


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
        log.error(  # noqa: TRY400 (a trace would not help: not a defect)
            "role.failed",
            code=error.code,
            error=error.message,
            detail=error.detail,
            hint=error.hint,
        )
        answer(pipe, answer_error(error))
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
