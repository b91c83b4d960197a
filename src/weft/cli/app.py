"""The entry of the command line: the list of commands, and the exit code."""

import gc
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from weft import __version__
from weft.ports.extension import EXTENSIONS

if TYPE_CHECKING:
    from inspect import BoundArguments

    from cyclopts import App, Token

    from weft.core.errors import WeftError

    Bound = tuple[Callable[..., object], BoundArguments]

USAGE = 2
READ_FILES = ("submit", "queue", "pool", "schedule", "simulate")
"""Commands whose mistakes are those of a file: they name its lines."""
COMPLETE = "--complete"
"""What the scripts of `weft completion` ask at each Tab. It stands on no page of help."""
INTERRUPTED = 130
BROKEN_PIPE = 141
OWN_COMMANDS: Final = {
    "up": ("up:up", "Start weft on this machine, with its own PostgreSQL."),
    "down": ("up:down", "Stop the weft server of this home."),
    "run": ("run:run", "Run one command as a job, with its output and exit code."),
    "submit": ("submit:submit", "Submit the jobs in a file, and print the batch's id."),
    "convert": ("convert:app", "Convert workflows of other systems to batch documents."),
    "ls": ("ls:ls", "List batches, newest first."),
    "jobs": ("jobs:jobs", "List the jobs of a batch, all or those that match a query."),
    "groups": ("jobs:groups", "List the groups of a batch."),
    "status": ("status:status", "Show a batch, a job or a group."),
    "why": ("why:why", "Say why jobs wait, and what changes that."),
    "failures": ("failures:app", "Say why jobs of a batch failed, or acknowledge failed jobs."),
    "wait": ("wait:wait", "Wait until batches, groups or jobs have ended."),
    "logs": ("logs:logs", "Print the output of a job."),
    "usage": ("timeline:usage", "Show the CPU time and memory of a job while it ran."),
    "files": ("files:app", "List, show and fetch the files that jobs have left."),
    "export": ("export:app", "Write what has run in forms that others read."),
    "rename": ("edit:rename", "Rename a batch, a job or a group."),
    "set": ("edit:set_attributes", "Set attributes or the priority of a batch, a job or a group."),
    "hold": ("hold:hold", "Hold batches, jobs or groups: their jobs do not start."),
    "release": ("hold:release", "Release held batches, jobs or groups."),
    "cancel": ("hold:cancel", "Cancel batches, jobs or groups."),
    "retry": ("retry:retry", "Run failed jobs again."),
    "resubmit": ("retry:resubmit", "Make a new batch from an old one."),
    "signal": ("command:signal", "Send a signal to a running job."),
    "message": ("command:message", "Send a text to a running job."),
    "extend": ("command:extend", "Give a job more time."),
    "hide": ("hold:hide", "Hide batches from `weft ls`."),
    "unhide": ("hold:unhide", "Show hidden batches in `weft ls` again."),
    "share": ("share:share", "Let others see a batch, and say what they may do."),
    "unshare": ("share:unshare", "Share a batch with a user no longer."),
    "delete": ("delete:delete", "Delete batches with all their jobs."),
    "callback": ("callback:app", "List callbacks, and send them again."),
    "condition": ("condition:app", "Show what blocked jobs wait for, and let them go on."),
    "block": ("inside_job:block", "Inside a job: say what it waits for, and exit with 75."),
    "progress": ("inside_job:progress", "Inside a job: say how much of it is done."),
    "note": ("inside_job:note", "Inside a job: show a file or a link beside it."),
    "notes": ("inside_job:notes", "Show what a job says about itself."),
    "minutes": ("system:minutes", "Show how many jobs waited, ran and ended in the last hour."),
    "dag": ("timeline:dag", "Draw the dependencies within a batch or a group."),
    "timeline": ("timeline:timeline", "Show when the jobs of a batch waited and ran, and where."),
    "check-order": (
        "check_order:check_order",
        "Check that every job started after its parents ended.",
    ),
    "doctor": ("doctor:doctor", "Check the installation, and suggest repairs."),
    "install": ("backup:install", "Make weft a service of systemd."),
    "backup": ("backup:backup", "Copy the database and the keys of this home, while weft runs."),
    "restore": ("backup:restore", "Make a backup the database of this home."),
    "audit": ("doctor:audit", "Recompute all derived data, and report differences."),
    "system": ("system:system", "Show how the whole site is, for its administrators."),
    "config": ("config:config", "Show each setting, its value and its origin."),
    "db": ("db:app", "Show or migrate the database schema."),
    "billing": ("billing:app", "Show costs and prices of billing projects."),
    "queue": ("queue:app", "Show and change queues, and test which one takes a job."),
    "schedule": ("schedule:app", "Submit batches at the times of cron expressions."),
    "pool": ("pool:app", "Show and change pools of workers."),
    "store": ("store:app", "Add, list and remove stores of objects, for files of jobs."),
    "param": ("param:app", "Set and show values that configurations of lines read."),
    "products": ("products:app", "List what jobs have made, also when they are gone."),
    "transport": ("transport:app", "Show and test the connections over which queues travel."),
    "licence": ("licence:app", "Show and set how many licences jobs may use at a time."),
    "token": ("token:app", "Make, list and revoke the tokens that stand for you."),
    "operation": ("operation:app", "Show and cancel work on many batches."),
    "query": ("query:app", "Save, list and remove queries for batches."),
    "secret": ("secret:app", "Set, list and remove secrets for your jobs."),
    "limit": ("limit:app", "Limit what projects, users and batches may use."),
    "quota": ("quota:app", "Limit how much users and tenants may have at a time."),
    "tenant": ("tenant:app", "List and create tenants, for administrators of the site."),
    "import": ("convert:import_jobs", "Take over jobs that have ended in another system."),
    "user": ("user:app", "List, add and remove users, and give them roles."),
    "login": ("session:login", "Log in to a server at its issuer, and keep a token."),
    "open": ("session:open_browser", "Log a browser in, by a link that works once."),
    "logout": ("session:logout", "End your sessions in browsers and your `weft login`."),
    "session": ("session:app", "List and end your sessions in browsers."),
    "trail": ("trail:trail", "Show who changed what, when and from where."),
    "whoami": ("token:whoami", "Show who you are to the server."),
    "bench": ("bench:bench", "Measure performance against a reference."),
    "completion": (
        "completion:completion",
        "Print what bash, zsh or fish needs to complete commands.",
    ),
    "api": ("up:api", "Run only the HTTP api, in the foreground."),
    "driver": ("up:driver", "Run only a driver, in the foreground."),
    "worker": ("worker:app", "Run a worker, or list, cordon and drain workers."),
}
"""The module and function of each command of the house below `cli/commands/`, and its line in
`weft --help`, which must not import them all.
"""


@cache
def commands() -> Mapping[str, tuple[str, str]]:
    """Return `module:function` of each command and its line in `weft --help`, also of those that
    installed packages bring. One that cannot be loaded takes no other command with it; `weft
    doctor` tells of it.
    """
    own = {
        name: (f"weft.cli.commands.{where}", sentence)
        for name, (where, sentence) in OWN_COMMANDS.items()
    }
    sound, _ = EXTENSIONS.load_sound()
    return own | {
        name: command
        for extension in sound.values()
        for name, command in extension.commands.items()
    }


def all_commands() -> Mapping[str, str]:
    """Return the sentences of all commands, also of those that installed doors bring."""
    from weft.run.doors import client_doors  # noqa: PLC0415 (it looks at all packages)

    own = {name: sentence for name, (_, sentence) in commands().items()}
    doors = client_doors().items()
    return own | {name: door.client.sentence for name, door in doors if door.client is not None}


def main() -> None:
    """Run one command and exit: 0 ok, 1 the job failed, 2 usage, 3 not reachable, 4 refused."""
    arguments = sys.argv[1:]
    if sys.getfilesystemencoding() != "utf-8":  # in a locale of Latin-1 others' bytes would change
        os.execv(sys.executable, [sys.executable, "-X", "utf8", "-m", "weft.cli", *arguments])  # noqa: S606 (this program)
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    if arguments in (["--version"], ["-V"], ["version"]) or arguments[:1] == [COMPLETE]:
        sys.exit(_print_at_once(arguments))
    gc.disable()  # until the command is loaded, which takes a seventh less without
    from weft.cli.terminal.raw_output import open_streams  # noqa: PLC0415

    open_streams()
    sys.exit(run_command(arguments, is_alone=True))


def _print_at_once(arguments: list[str]) -> int:
    """Print what needs neither a command nor its messages; return the exit code."""
    try:
        if arguments[0] == COMPLETE:
            from weft.cli.completion.answer import print_completions  # noqa: PLC0415

            print_completions(arguments[1:])
        else:
            print(f"weft {__version__}", flush=True)
    except BrokenPipeError:
        _silence_stdout()
        return BROKEN_PIPE
    return 0


def run_command(arguments: list[str], *, is_alone: bool = False) -> int:
    """Run one command and return its exit code. Errors are printed, not raised. `is_alone`: it is
    all that this process does.
    """
    from weft.cli.terminal.raw_output import OutputFailed  # noqa: PLC0415
    from weft.cli.terminal.report import print_error  # noqa: PLC0415
    from weft.core.errors import WeftError, missing_package  # noqa: PLC0415

    try:
        exit_code = _dispatch(arguments, is_alone=is_alone)
        sys.stdout.flush()
    except WeftError as error:
        if isinstance(error, OutputFailed):
            _silence_stdout()
        if error.errors and "--json" not in arguments and arguments[0] not in READ_FILES:
            from weft.cli.input.option_names import name_options  # noqa: PLC0415

            name_options(error, arguments[0])
        print_error(error, as_json="--json" in arguments)
        return error.exit_code
    except ImportError as error:
        cause = error.__cause__ or error  # cyclopts has another for the module of a command
        missing = missing_package(cause) if isinstance(cause, ModuleNotFoundError) else error
        if not isinstance(missing, WeftError):
            raise
        print_error(missing, as_json="--json" in arguments)
        return missing.exit_code
    except UnicodeEncodeError as error:
        if not _is_of(error, arguments):
            raise
        print_error(_not_text(error), as_json="--json" in arguments)
        return USAGE
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


def build_app(first: str | None = None) -> "App":
    """Return the tree of commands; their modules are imported when they are used. `first`: the
    command that is wanted; if it is one of weft's own, those of doors are left out.
    """
    from cyclopts import App, Parameter  # noqa: PLC0415

    from weft.cli.terminal.help_page import HelpPage  # noqa: PLC0415

    app = App(
        name="weft",
        help="Run jobs: millions of small ones or a few long ones.",
        version=__version__,
        version_flags=["--version", "-V"],
        help_format="plaintext",
        help_formatter=HelpPage(),
        default_parameter=Parameter(show_default=_shown_default, converter=_converted),
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
    )
    for name, (function, _) in commands().items():
        # Of an unknown word cyclopts imports all commands, also those whose package is missing.
        app.command(function if first in {None, name} else _not_meant, name=name)
    if first not in commands():
        if first is not None and (broken := EXTENSIONS.load_sound()[1].get(first)) is not None:
            raise broken
        _add_commands_of_doors(app)
    return app


def _not_meant() -> None:
    """Stand for a command that the line does not name."""


def _add_commands_of_doors(app: "App") -> None:
    from weft.cli.commands.client_files import command_of  # noqa: PLC0415
    from weft.run.doors import client_doors  # noqa: PLC0415

    for name, door in client_doors().items():
        if door.client is not None:
            app.command(command_of(name, door, door.client), name=name)


def _converted(kind: Any, tokens: Sequence["Token"]) -> object:  # noqa: ANN401 (a type)
    """Convert as cyclopts does, which would make 2 of 1.5."""
    from cyclopts import CoercionError, convert  # noqa: PLC0415

    found = convert(kind, tokens)
    if type(found) is int and not all(token.value.lstrip("+-").isalnum() for token in tokens):
        raise CoercionError(token=tokens[0], target_type=int)
    return found


def _shown_default(value: object) -> str | None:
    """Return what help shows as an option's default: nothing for a flag that is off."""
    if isinstance(value, Enum):
        return value.name.lower()
    return None if value in (None, False, "", ()) else str(value)


def _dispatch(arguments: list[str], *, is_alone: bool) -> int:
    if _is_printed_at_once(arguments):
        return 0
    bound = (_bind_usual(arguments) if is_alone else None) or _bind(arguments)
    if bound is None:
        return USAGE
    from weft.cli.input.named import name_ids  # noqa: PLC0415 (as late as the command itself)

    command, values = bound
    name_ids(values)
    _collect_garbage_again()
    outcome = command(*values.args, **values.kwargs)
    if isinstance(outcome, Coroutine):
        from weft.client.http.blocking import run  # noqa: PLC0415

        outcome = run(outcome)
    return outcome if isinstance(outcome, int) else 0


def _bind_usual(arguments: list[str]) -> "Bound | None":
    """Return the command of a usual line and its arguments, without cyclopts."""
    from weft.cli.input.signature import do_without  # noqa: PLC0415
    from weft.cli.input.usual_lines import usual_line  # noqa: PLC0415

    line = usual_line(arguments)
    if line is None or _misplaced(line.values.get(("command", ""), ()), arguments):
        return None
    do_without()
    return line.bound()


def _bind(arguments: list[str]) -> "Bound | None":
    """Return the command of a line and its arguments; print what is wrong and return None."""
    from cyclopts import CycloptsError  # noqa: PLC0415

    from weft.cli.completion.cursor import read_commands  # noqa: PLC0415
    from weft.cli.terminal.report import print_usage_error  # noqa: PLC0415

    try:
        command, bound, _ = build_app(arguments[0]).parse_args(arguments)
    except CycloptsError as error:
        print_usage_error(error, arguments, read_commands())
        return None
    if wrong := _misplaced(bound.arguments.get("command", ()), arguments):
        print_usage_error(
            CycloptsError(wrong, command_chain=arguments[:1]), arguments, read_commands()
        )
        return None
    return command, bound


def _collect_garbage_again() -> None:
    """Let the collector work from now on, on what the command makes: modules are never garbage."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _is_printed_at_once(arguments: list[str]) -> bool:
    """Print what somebody waits for at a prompt, or a shell that starts, without a look at any
    command; return False for all else.
    """
    if arguments in ([], ["--help"], ["-h"]):
        from weft.cli.terminal.overview import print_overview  # noqa: PLC0415

        print_overview(all_commands().items())
        return True
    if arguments[0] == "completion":
        from weft.cli.completion.scripts import SHELLS, script_of  # noqa: PLC0415

        if len(arguments) == 2 and arguments[1] in SHELLS:  # noqa: PLR2004 (with its shell)
            print(script_of(arguments[1]))
            return True
    return False


def _misplaced(command: Sequence[str], arguments: list[str]) -> str | None:
    """Say what is wrong if an option stands after the first word of a job's command: `run sort -n`
    would lose it; or words before `--`, which would become a part of the command.
    """
    if arguments[:1] not in (["run"], ["each"], ["exec"]):
        return None
    words = list(command)
    if "--" in arguments:
        is_before = len(words) > len(arguments) - arguments.index("--") - 1
        only = "stands before the two hyphens, where only options may stand."
        return f"'{words[0]}' {only}" if is_before else None
    if arguments[len(arguments) - len(words) :] == words:
        return None
    return f"There is an option after '{words[0]}'; it is ambiguous whether it belongs to weft."


def _is_of(error: UnicodeEncodeError, arguments: list[str]) -> bool:
    """Say whether a text that cannot be encoded is, or holds, bytes of the command line."""
    wrong = error.object[error.start : error.end]
    return any(wrong in argument for argument in arguments)


def _not_text(error: UnicodeEncodeError) -> "WeftError":
    from weft.core.errors import Invalid  # noqa: PLC0415

    return Invalid(
        "an argument is not text in UTF-8",
        detail=f"It holds the bytes {os.fsencode(error.object[error.start : error.end])!r}.",
        hint="Names, queries and directories of weft are text in UTF-8.",
    )


def _silence_stdout() -> None:
    """Discard what the interpreter still flushes: nobody reads it, or it cannot be written."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
