"""One supervised process: started, watched, started again when it dies; and the environment of a
home's processes: every setting except secrets.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from weft.core.backoff import restart_after
from weft.core.errors import Unavailable
from weft.run.child import DRAINED, ROLE_VARIABLE, SUPERVISOR_VARIABLE
from weft.run.home import Home
from weft.settings import Settings, all_declared, declared_in, values_of, variable_of
from weft.settings.client import ClientSettings
from weft.telemetry import metrics
from weft.telemetry.log import log

_FOR_CLIENTS = frozenset(one.name for one in declared_in(ClientSettings))


def role_environment(
    settings: Settings, environ: Mapping[str, str] | None = None, **changes: str
) -> dict[str, str]:
    """Return the environment of a role: ours, with this process's settings as `WEFT_<NAME>`.

    So flags and files of `weft up` hold for its roles too; but `ps` may show an environment, so
    roles read what is secret from the files of the home. `changes`: settings that differ.
    """
    environ = os.environ if environ is None else environ
    declared = all_declared()
    ours = {variable_of(name) for name in declared}
    result = {name: value for name, value in environ.items() if name not in ours}
    for name, value in values_of(settings).items():
        if value is not None and not declared[name].is_secret and name not in _FOR_CLIENTS:
            result[variable_of(name)] = declared[name].text_of(value)
    return result | {variable_of(name): value for name, value in changes.items()}


READY_WITHIN_S = 60.0
_READY_STEP_S = 0.01
_LAST_LINES = 12


class RoleFailed(Unavailable, code="UP.ROLE_FAILED"):
    """A role did not become ready at the start."""


async def until_exit(process: subprocess.Popen[bytes]) -> int:
    """Wait for a child's end without a thread; return its exit code, negative for a signal."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    handle = os.pidfd_open(process.pid)
    loop.add_reader(handle, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    return process.wait()


class RoleProcess:
    """A role of this home: `python -m MODULE` with the settings in its environment."""

    def __init__(
        self, name: str, module: str, home: Home, environment: Callable[[], Mapping[str, str]]
    ) -> None:
        self.name = name
        self.log_path = home.role_logs / f"{name}.log"
        self.may_run = asyncio.Event()
        """Set when the database is there; until then the process only loads its modules."""
        self.is_ready = asyncio.Event()
        self.on_ready: Callable[[Mapping[str, Any]], None] = lambda _facts: None
        self.on_exit: Callable[[bool], None] = lambda _was_ready: None
        self._module = module
        self._home = home
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0
        self._last_words = ""
        """What the process said that ended last: the next one may not have got that far yet."""
        self._deaths = 0

    @property
    def pid(self) -> int | None:
        """Return the live process's pid."""
        return None if self._process is None else self._process.pid

    async def keep(self) -> None:
        """Start it, and again whenever it ends, until cancelled. A drained worker stays away."""
        while True:
            started_at = time.monotonic()
            try:
                process = self._start()
            except OSError as error:  # no memory, no process, no space for the log
                await self._wait_after_death(0, f"could not start: {error}", 0.0)
                continue
            watch = asyncio.create_task(self._watch_ready(process))
            try:
                code = await until_exit(process)
            finally:
                watch.cancel()
            self._process = None
            if code == DRAINED:
                await self._stay_away(process.pid)
            lived_s = time.monotonic() - started_at
            await self._wait_after_death(process.pid, describe_end(code), lived_s)

    async def _stay_away(self, pid: int) -> None:
        log.info("up.role_drained", started=self.name, started_pid=pid)
        self.is_ready.set()  # perhaps it was too quick to be seen
        (self._home.run / f"{self.name}.ready").unlink(missing_ok=True)
        await asyncio.Event().wait()

    def _start(self) -> subprocess.Popen[bytes]:
        (self._home.run / f"{self.name}.ready").unlink(missing_ok=True)
        environment = {
            **self._environment(),
            SUPERVISOR_VARIABLE: str(os.getpid()),
            ROLE_VARIABLE: self.name,
        }
        self.log_path.touch(mode=0o600)
        with self.log_path.open("ab") as output:
            self._log_start = output.tell()
            # -P: modules in the directory where somebody typed `weft up` are not ours.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", self._module],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        log.info("up.role_started", started=self.name, started_pid=self._process.pid)
        return self._process

    async def _watch_ready(self, process: subprocess.Popen[bytes]) -> None:
        await self.may_run.wait()
        assert process.stdin is not None
        process.stdin.close()
        begun = time.monotonic()
        # A file has no event to wait for; this ends with the start.
        while self._home.ready(self.name).get("pid") != process.pid:  # noqa: ASYNC110
            await asyncio.sleep(_READY_STEP_S)
        self.on_ready(self._home.ready(self.name))
        self.is_ready.set()
        log.info("up.role_ready", started=self.name, ms=round((time.monotonic() - begun) * 1000))

    async def _wait_after_death(self, pid: int, end: str, lived_s: float) -> None:
        self._deaths, delay_s = restart_after(
            self._deaths,
            lived_s=lived_s,
            jitter=random.random(),  # noqa: S311 (spreads retries, guards nothing)
        )
        self._last_words = self.last_lines()
        metrics.ROLE_RESTARTS.labels(self.name).inc()
        log.warning(
            "up.role_ended",
            started=self.name,
            started_pid=pid,
            end=end,
            lived_s=round(lived_s, 3),
            restart_in_s=round(delay_s, 3),
            said=self._last_words,
        )
        self.on_exit(self.is_ready.is_set())
        self.is_ready.clear()
        await asyncio.sleep(delay_s)

    def last_lines(self) -> str:
        """Return the end of the process's output since its start."""
        try:
            with self.log_path.open("rb") as file:
                file.seek(max(self._log_start, self.log_path.stat().st_size - 8192))
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.strip().splitlines()[-_LAST_LINES:])

    async def until_ready(self) -> None:
        """Wait until it is ready for the first time; raise `RoleFailed` if it ends before."""
        deadline = time.monotonic() + READY_WITHIN_S
        deaths_allowed = 2
        while not self.is_ready.is_set():
            if self._deaths > deaths_allowed or time.monotonic() > deadline:
                raise RoleFailed(
                    f"could not start the role {self.name}",
                    detail=self.last_lines() or self._last_words or "It printed nothing.",
                    hint=f"Its log is {self.log_path}.",
                )
            await asyncio.sleep(_READY_STEP_S)

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if it lives."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    async def stop(self, *, within_s: float) -> None:
        """Ask it to end, then end it. `keep` must have been cancelled before."""
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            await asyncio.wait_for(until_exit(process), within_s)
        except TimeoutError:
            log.warning("up.role_killed", started=self.name, after_s=within_s)
            process.kill()
            process.wait()
        (self._home.run / f"{self.name}.ready").unlink(missing_ok=True)


def describe_end(code: int) -> str:
    """Return how a process ended, in words.

    >>> describe_end(3), describe_end(-9)
    ('exit code 3', 'SIGKILL')
    """
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
