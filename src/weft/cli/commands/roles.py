"""`weft api`, `weft driver`: one role in the foreground, for several machines."""

import importlib
import os

from weft.cli.input.options import LOCAL, Local
from weft.cli.input.settings import (
    NO_SERVER_OPTIONS,
    Options,
    ServerOptions,
    flags_of,
    settings_of,
)


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


def run_role(name: str, shared: Local, *groups: Options) -> int:
    """Run a role with these options until it is told to stop."""
    settings_of(shared, *groups)  # a wrong option is told as one, before the role writes its log
    # A role reads its settings from the environment, as it does when `weft up` starts it.
    for setting, value in flags_of(shared, *groups).items():
        os.environ[f"WEFT_{setting.upper()}"] = str(value)
    code: int = importlib.import_module(f"weft.run.{name}").main()
    return code
