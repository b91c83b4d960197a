"""The entry of the command line: which commands there are, and what the shell is told in the
end.
"""

import sys
from typing import TYPE_CHECKING

from weft import __version__

if TYPE_CHECKING:
    from cyclopts import App

USAGE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
COMMANDS = {
    "up": "weft.cli.up:up",
    "down": "weft.cli.down:down",
    "run": "weft.cli.run:run",
    "each": "weft.cli.each:each",
    "submit": "weft.cli.submit:submit",
    "ls": "weft.cli.ls:ls",
    "status": "weft.cli.status:status",
    "wait": "weft.cli.wait:wait",
    "logs": "weft.cli.logs:logs",
    "cancel": "weft.cli.cancel:cancel",
    "top": "weft.cli.top:top",
    "doctor": "weft.cli.doctor:doctor",
    "audit": "weft.cli.audit:audit",
    "config": "weft.cli.config:config",
    "db": "weft.cli.db:app",
    "bench": "weft.cli.bench:bench",
    "api": "weft.cli.roles:api",
    "driver": "weft.cli.roles:driver",
    "worker": "weft.cli.roles:worker",
}


def main() -> None:
    """Run one command and exit: 0 ok, 1 the job failed, 2 usage, 3 not reachable, 4 refused."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        print(f"weft {__version__}")
        sys.exit(0)
    sys.exit(run_command(arguments))


def run_command(arguments: list[str]) -> int:
    """Run one command and return its exit code. Errors are printed, not raised."""
    from weft.cli.report import print_error  # noqa: PLC0415
    from weft.core.errors import WeftError  # noqa: PLC0415

    try:
        return _dispatch(arguments)
    except WeftError as error:
        print_error(error, as_json="--json" in arguments)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return BROKEN_PIPE


def build_app() -> "App":
    """Return the tree of commands; their modules are imported when they are used."""
    from cyclopts import App  # noqa: PLC0415

    app = App(
        name="weft",
        help="Run jobs, millions of small ones or a few long ones, and know what became of them.",
        version=__version__,
        version_flags=["--version", "-V"],
        help_format="plaintext",
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
    )
    for name, place in COMMANDS.items():
        app.command(place, name=name)
    return app


def _dispatch(arguments: list[str]) -> int:
    from cyclopts import CycloptsError  # noqa: PLC0415

    from weft.cli.report import print_usage_error  # noqa: PLC0415

    try:
        outcome = build_app()(arguments)
    except CycloptsError as error:
        print_usage_error(error)
        return USAGE
    return outcome if isinstance(outcome, int) else 0


def _silence_stdout() -> None:
    """Let the interpreter flush into nothing: the reader of our output has gone, which is no
    error.
    """
    import os  # noqa: PLC0415

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
