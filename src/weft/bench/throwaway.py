"""A home that lives as long as a bench: with a whole `weft up`, or with its database alone.

Both run with the settings that `weft up` has without any option, whatever the user has set.
"""

import asyncio
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path

from weft.bench.plan import BenchFailed
from weft.client.api import Api
from weft.run.child import ROLE_VARIABLE, SUPERVISOR_VARIABLE
from weft.run.database import EmbeddedDatabase, prepare_schema
from weft.run.down import run_down
from weft.run.home import Home
from weft.run.role_process import role_environment
from weft.settings import load_settings, outer_environment
from weft.store.embedded.server import dying_with_parent

TENANT_USER = "bench"
READY_S = 60.0
STOP_S = 20.0
LOOK_S = 0.02
_LAST_LINES = 15


@contextmanager
def throwaway_home(directory: Path | None) -> Iterator[Home]:
    """Make a home and remove it. By default on a disk, for /tmp may be memory."""
    usual = Path("/var/tmp")  # noqa: S108 (only the parent for mkdtemp)
    parent = directory or (usual if os.access(usual, os.W_OK) else None)
    path = Path(tempfile.mkdtemp(prefix="weft-bench-", dir=parent))
    try:
        home = Home(path)
        home.prepare()
        yield home
    finally:
        shutil.rmtree(path, ignore_errors=True)


@asynccontextmanager
async def running_weft(home: Home, *, port: str = "0", **environment: str) -> AsyncIterator[int]:
    """Run `weft up` on a home, with more variables if wanted; give its pid when all is ready.
    `port`: of the api; 0: a free one.
    """
    log_path = home.role_logs / "up.log"
    process = _spawn(
        [
            *dying_with_parent(),
            sys.executable,
            "-P",
            "-m",
            "weft.cli",
            "up",
            "--home",
            str(home.path),
            "--port",
            port,
            "--log-format",
            "json",
        ],
        log_path,
        outer_environment() | environment,
    )
    try:
        await _until(lambda: b'"up.started"' in log_path.read_bytes(), process, log_path)
        yield process.pid
    finally:
        _end(process)
        with redirect_stdout(StringIO()):  # what a killed one left
            run_down(home.path)


def url_of(home: Home) -> str:
    """Return the address of the `weft up` of a home."""
    return str(json.loads(home.client_file.read_bytes())["url"])


@asynccontextmanager
async def client_of(home: Home, *, token: str | None = None) -> AsyncIterator[Api]:
    """Give a client with an open connection to the `weft up` of a home, whatever WEFT_URL says.

    `token`: of another user than the one of the home.
    """
    async with Api(url_of(home), token or home.token(), home=home.path) as client:
        await client.is_ready()
        yield client


@asynccontextmanager
async def running_database(home: Home) -> AsyncIterator[tuple[Mapping[str, str], str]]:
    """Run the embedded server of a home; give the DSN by login, and the token of a user."""
    database = EmbeddedDatabase(home)
    token = secrets.token_urlsafe(32)
    await database.start()
    try:
        logins = database.logins()
        await prepare_schema(logins["admin"], logins, user=TENANT_USER, token=token)
        home.write_secrets(logins)
        yield logins, token
    finally:
        await database.stop(fast=True)


@asynccontextmanager
async def running_driver(home: Home) -> AsyncIterator[None]:
    """Run the driver of a home as a process, as `weft up` starts it."""
    async with running_role(home, "driver", "driver"):
        yield


@asynccontextmanager
async def running_role(home: Home, role: str, name: str) -> AsyncIterator[None]:
    """Run a role of a home as a process, as `weft up` starts it."""
    log_path = home.role_logs / f"{name}.log"
    supervised = {SUPERVISOR_VARIABLE: str(os.getpid()), ROLE_VARIABLE: name}
    settings = load_settings({"home": home.path, "port": 0}, environ={})
    environment = role_environment(settings, outer_environment()) | supervised
    process = _spawn([sys.executable, "-P", "-m", f"weft.run.{role}"], log_path, environment)
    try:
        await _until(lambda: bool(home.ready(name)), process, log_path)
        yield
    finally:
        _end(process)


async def _until(
    is_ready: Callable[[], bool], process: "subprocess.Popen[bytes]", log_path: Path
) -> None:
    deadline = time.monotonic() + READY_S
    while not is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise _not_started(process, log_path)
        await asyncio.sleep(LOOK_S)


def _not_started(process: "subprocess.Popen[bytes]", log_path: Path) -> BenchFailed:
    said = log_path.read_text(errors="replace").strip().splitlines()
    return BenchFailed(
        "the throw-away server could not start",
        detail="\n".join(said[-_LAST_LINES:]) or f"It ended with {process.poll()}.",
        hint="`weft doctor` checks the installation.",
    )


def _spawn(
    command: Sequence[str], log_path: Path, environment: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    """Start a process in a session of its own: Ctrl-C at the terminal is for us to handle."""
    with log_path.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,
            env=environment,
            start_new_session=True,
        )


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
