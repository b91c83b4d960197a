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
    "up": ("weft.cli.commands.up:up", "Start weft on this machine, with its own PostgreSQL."),
    "down": ("weft.cli.commands.down:down", "Stop the weft of this home."),
    "run": ("weft.cli.commands.run:run", "Run one command as a job, as if it ran here."),
    "each": ("weft.cli.commands.each:each", "Run a command once for each line of the input."),
    "submit": (
        "weft.cli.commands.submit:submit",
        "Submit the jobs of a file, and print the batch's id.",
    ),
    "convert": (
        "weft.cli.commands.convert:app",
        "Turn workflows of other systems into documents of batches.",
    ),
    "ls": ("weft.cli.commands.ls:ls", "List batches, newest first."),
    "jobs": (
        "weft.cli.commands.jobs:jobs",
        "List jobs of a batch, all or those that a query finds.",
    ),
    "status": ("weft.cli.commands.status:status", "Show a batch, a job or a group."),
    "wait": ("weft.cli.commands.wait:wait", "Wait until a batch, a group or a job has ended."),
    "logs": ("weft.cli.commands.logs:logs", "Print the output of a job."),
    "rename": ("weft.cli.commands.edit:rename", "Give a batch, a job or a group another name."),
    "set": (
        "weft.cli.commands.edit:set_attributes",
        "Set attributes or the priority of a batch, a job or a group.",
    ),
    "hold": (
        "weft.cli.commands.hold:hold",
        "Let nothing of batches, jobs or groups start for now.",
    ),
    "release": ("weft.cli.commands.hold:release", "Let what was held start."),
    "cancel": ("weft.cli.commands.cancel:cancel", "Cancel batches, jobs or groups."),
    "delete": ("weft.cli.commands.delete:delete", "Delete batches with all their jobs."),
    "callback": (
        "weft.cli.commands.callback:app",
        "See who was told of completions, and how.",
    ),
    "top": ("weft.cli.commands.top:top", "Show workers and batches while they change."),
    "check-order": (
        "weft.cli.commands.check_order:check_order",
        "Check that all jobs began after their parents had ended.",
    ),
    "doctor": ("weft.cli.commands.doctor:doctor", "Check the installation, and say what to do."),
    "audit": (
        "weft.cli.commands.audit:audit",
        "Recompute everything that is derived, and compare.",
    ),
    "config": ("weft.cli.commands.config:config", "Show each setting and where it comes from."),
    "db": ("weft.cli.commands.db:app", "Look at the database's schema, and bring it up to date."),
    "billing": (
        "weft.cli.commands.billing:app",
        "Show what billing projects cost, and at which prices.",
    ),
    "bench": (
        "weft.cli.commands.bench:bench",
        "Measure one thing beside what it is compared with.",
    ),
    "api": ("weft.cli.commands.roles:api", "Run the HTTP api alone, in the foreground."),
    "driver": ("weft.cli.commands.roles:driver", "Run a driver alone, in the foreground."),
    "worker": ("weft.cli.commands.roles:worker", "Run a worker alone, in the foreground."),
}
"""Where each command is, and what `weft --help` says of it: that must not import them all."""


def main() -> None:
    """Run one command and exit: 0 ok, 1 the job failed, 2 usage, 3 not reachable, 4 refused."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        print(f"weft {__version__}")
        sys.exit(0)
    from weft.cli.terminal.raw_output import open_streams  # noqa: PLC0415

    open_streams()
    sys.exit(run_command(arguments))


def run_command(arguments: list[str]) -> int:
    """Run one command and return its exit code. Errors are printed, not raised."""
    from weft.cli.terminal.raw_output import OutputFailed  # noqa: PLC0415
    from weft.cli.terminal.report import print_error  # noqa: PLC0415
    from weft.core.errors import WeftError  # noqa: PLC0415

    try:
        exit_code = _dispatch(arguments)
        sys.stdout.flush()
    except WeftError as error:
        if isinstance(error, OutputFailed):
            _silence_stdout()
        print_error(error, as_json="--json" in arguments)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return BROKEN_PIPE
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return BROKEN_PIPE  # rich has silenced its stream by then
    return exit_code


def build_app(*, is_overview: bool = False) -> "App":
    """Return the tree of commands; their modules are imported when they are used.

    `is_overview`: with one sentence about each.
    """
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
    for position, (name, (place, sentence)) in enumerate(COMMANDS.items()):
        # A command's own page has more to say: its docstring, which a sentence here would replace.
        app.command(place, name=name, help=sentence if is_overview else None, sort_key=position)
    return app


def _dispatch(arguments: list[str]) -> int:
    from cyclopts import CycloptsError  # noqa: PLC0415

    from weft.cli.terminal.report import print_usage_error  # noqa: PLC0415

    try:
        names_command = bool(arguments) and not arguments[0].startswith("-")
        app = build_app(is_overview=not names_command)
        _check_order(app, arguments)
        outcome = app(arguments)
    except CycloptsError as error:
        print_usage_error(error)
        return USAGE
    return outcome if isinstance(outcome, int) else 0


def _check_order(app: "App", arguments: list[str]) -> None:
    """Refuse an option behind the first word of a job's command: `run sort -n` would lose it."""
    from cyclopts import CycloptsError  # noqa: PLC0415

    if "--" in arguments or arguments[:1] not in (["run"], ["each"]):
        return
    _, bound, _ = app.parse_args(arguments)
    words = list(bound.arguments.get("command", ()))
    if arguments[len(arguments) - len(words) :] != words:
        raise CycloptsError(
            f"An option stands behind '{words[0]}'; it is not clear whose it is.",
            command_chain=arguments[:1],
        )


def _silence_stdout() -> None:
    """Let the interpreter flush into nothing what nobody reads or what cannot be written."""
    import os  # noqa: PLC0415

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
