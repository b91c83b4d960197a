"""The entry of the command line: the list of commands, and the exit code."""

import gc
import os
import sys
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from weft import __version__
from weft.ports.extension import built_in

if TYPE_CHECKING:
    from cyclopts import App

    from weft.core.errors import WeftError

USAGE = 2
READ_FILES = ("submit", "queue", "pool", "schedule", "simulate")
"""Commands whose mistakes are those of a file: they name its lines."""
COMPLETE = "--complete"
"""What the scripts of `weft completion` ask at each Tab. It stands on no page of help."""
INTERRUPTED = 130
BROKEN_PIPE = 141
_OWN_COMMANDS = {
    "up": ("weft.cli.commands.up:up", "Start weft on this machine, with its own PostgreSQL."),
    "down": ("weft.cli.commands.down:down", "Stop the weft server of this home."),
    "run": (
        "weft.cli.commands.run:run",
        "Run one command as a job, with its output and exit code.",
    ),
    "submit": (
        "weft.cli.commands.submit:submit",
        "Submit the jobs in a file, and print the batch's id.",
    ),
    "convert": (
        "weft.cli.commands.convert:app",
        "Convert workflows of other systems to batch documents.",
    ),
    "ls": ("weft.cli.commands.ls:ls", "List batches, newest first."),
    "jobs": (
        "weft.cli.commands.jobs:jobs",
        "List the jobs of a batch, all or those that match a query.",
    ),
    "groups": ("weft.cli.commands.groups:groups", "List the groups of a batch."),
    "status": ("weft.cli.commands.status:status", "Show a batch, a job or a group."),
    "why": ("weft.cli.commands.why:why", "Say why jobs wait, and what changes that."),
    "failures": (
        "weft.cli.commands.failures:app",
        "Say why jobs of a batch failed, or acknowledge failed jobs.",
    ),
    "wait": ("weft.cli.commands.wait:wait", "Wait until batches, groups or jobs have ended."),
    "logs": ("weft.cli.commands.logs:logs", "Print the output of a job."),
    "usage": (
        "weft.cli.commands.usage:usage",
        "Show the CPU time and memory of a job while it ran.",
    ),
    "files": (
        "weft.cli.commands.files:app",
        "List, show and fetch the files that jobs have left.",
    ),
    "export": ("weft.cli.commands.export:app", "Write what has run in forms that others read."),
    "rename": ("weft.cli.commands.edit:rename", "Rename a batch, a job or a group."),
    "set": (
        "weft.cli.commands.edit:set_attributes",
        "Set attributes or the priority of a batch, a job or a group.",
    ),
    "hold": (
        "weft.cli.commands.hold:hold",
        "Hold batches, jobs or groups: their jobs do not start.",
    ),
    "release": ("weft.cli.commands.hold:release", "Release held batches, jobs or groups."),
    "cancel": ("weft.cli.commands.cancel:cancel", "Cancel batches, jobs or groups."),
    "retry": ("weft.cli.commands.retry:retry", "Run failed jobs again."),
    "resubmit": ("weft.cli.commands.resubmit:resubmit", "Make a new batch from an old one."),
    "signal": ("weft.cli.commands.command:signal", "Send a signal to a running job."),
    "message": ("weft.cli.commands.command:message", "Send a text to a running job."),
    "extend": ("weft.cli.commands.command:extend", "Give a job more time."),
    "hide": ("weft.cli.commands.hide:hide", "Hide batches from `weft ls`."),
    "unhide": ("weft.cli.commands.hide:unhide", "Show hidden batches in `weft ls` again."),
    "share": (
        "weft.cli.commands.share:share",
        "Let others see a batch, and say what they may do.",
    ),
    "unshare": ("weft.cli.commands.share:unshare", "Share a batch with a user no longer."),
    "delete": ("weft.cli.commands.delete:delete", "Delete batches with all their jobs."),
    "callback": ("weft.cli.commands.callback:app", "List callbacks, and send them again."),
    "condition": (
        "weft.cli.commands.condition:app",
        "Show what blocked jobs wait for, and let them go on.",
    ),
    "block": (
        "weft.cli.commands.block:block",
        "Inside a job: say what it waits for, and exit with 75.",
    ),
    "progress": (
        "weft.cli.commands.progress:progress",
        "Inside a job: say how much of it is done.",
    ),
    "minutes": (
        "weft.cli.commands.minutes:minutes",
        "Show how many jobs waited, ran and ended in the last hour.",
    ),
    "dag": ("weft.cli.commands.dag:dag", "Draw the dependencies within a batch or a group."),
    "timeline": (
        "weft.cli.commands.timeline:timeline",
        "Show when the jobs of a batch waited and ran, and where.",
    ),
    "check-order": (
        "weft.cli.commands.check_order:check_order",
        "Check that every job started after its parents ended.",
    ),
    "doctor": ("weft.cli.commands.doctor:doctor", "Check the installation, and suggest repairs."),
    "audit": (
        "weft.cli.commands.audit:audit",
        "Recompute all derived data, and report differences.",
    ),
    "system": (
        "weft.cli.commands.system:system",
        "Show how the whole site is, for its administrators.",
    ),
    "config": ("weft.cli.commands.config:config", "Show each setting, its value and its origin."),
    "db": ("weft.cli.commands.db:app", "Show or migrate the database schema."),
    "billing": ("weft.cli.commands.billing:app", "Show costs and prices of billing projects."),
    "queue": (
        "weft.cli.commands.queue:app",
        "Show and change queues, and test which one takes a job.",
    ),
    "schedule": (
        "weft.cli.commands.schedule:app",
        "Submit batches at the times of cron expressions.",
    ),
    "pool": ("weft.cli.commands.pool:app", "Show and change pools of workers."),
    "app": ("weft.cli.commands.app:app", "Add, list and remove applications, which jobs run."),
    "store": (
        "weft.cli.commands.store:app",
        "Add, list and remove stores of objects, for files of jobs.",
    ),
    "param": (
        "weft.cli.commands.param:app",
        "Set and show values that configurations of lines read.",
    ),
    "products": (
        "weft.cli.commands.products:app",
        "List what jobs have made, also when they are gone.",
    ),
    "transport": (
        "weft.cli.commands.transport:app",
        "Show and test the connections over which queues travel.",
    ),
    "licence": (
        "weft.cli.commands.licence:app",
        "Show and set how many licences jobs may use at a time.",
    ),
    "token": (
        "weft.cli.commands.token:app",
        "Make, list and revoke the tokens that stand for you.",
    ),
    "operation": ("weft.cli.commands.operation:app", "Show and cancel work on many batches."),
    "query": ("weft.cli.commands.query:app", "Save, list and remove queries for batches."),
    "secret": ("weft.cli.commands.secret:app", "Set, list and remove secrets for your jobs."),
    "limit": ("weft.cli.commands.limit:app", "Limit what projects, users and batches may use."),
    "quota": (
        "weft.cli.commands.quota:app",
        "Limit how much users and tenants may have at a time.",
    ),
    "tenant": (
        "weft.cli.commands.tenant:app",
        "List and create tenants, for administrators of the site.",
    ),
    "import": (
        "weft.cli.commands.import_jobs:import_jobs",
        "Take over jobs that have ended in another system.",
    ),
    "user": ("weft.cli.commands.user:app", "List, add and remove users, and give them roles."),
    "login": (
        "weft.cli.commands.login:login",
        "Log in to a server at its issuer, and keep a token.",
    ),
    "open": (
        "weft.cli.commands.session:open_browser",
        "Log a browser in, by a link that works once.",
    ),
    "logout": (
        "weft.cli.commands.session:logout",
        "End your sessions in browsers and your `weft login`.",
    ),
    "session": ("weft.cli.commands.session:app", "List and end your sessions in browsers."),
    "trail": ("weft.cli.commands.trail:trail", "Show who changed what, when and from where."),
    "whoami": ("weft.cli.commands.token:whoami", "Show who you are to the server."),
    "bench": ("weft.cli.commands.bench:bench", "Measure performance against a reference."),
    "completion": (
        "weft.cli.commands.completion:completion",
        "Print what bash, zsh or fish needs to complete commands.",
    ),
    "api": ("weft.cli.commands.roles:api", "Run only the HTTP api, in the foreground."),
    "driver": ("weft.cli.commands.roles:driver", "Run only a driver, in the foreground."),
    "worker": ("weft.cli.commands.worker:app", "Run a worker, or list, cordon and drain workers."),
}
COMMANDS: Final[Mapping[str, tuple[str, str]]] = _OWN_COMMANDS | {
    name: command for one in built_in() for name, command in one.commands.items()
}
"""By name: `module:function`, and the sentence in the list."""
"""The function of each command and its line in `weft --help`, which must not import them all."""


def all_commands() -> Mapping[str, str]:
    """Return the sentences of all commands, also of those that installed doors bring."""
    from weft.run.doors import client_doors  # noqa: PLC0415 (30 ms: it looks at all packages)

    own = {name: sentence for name, (_, sentence) in COMMANDS.items()}
    doors = client_doors().items()
    return own | {name: door.client.sentence for name, door in doors if door.client is not None}


def main() -> None:
    """Run one command and exit: 0 ok, 1 the job failed, 2 usage, 3 not reachable, 4 refused."""
    arguments = sys.argv[1:]
    if sys.getfilesystemencoding() != "utf-8":  # in a locale of Latin-1 others' bytes would change
        os.execv(sys.executable, [sys.executable, "-X", "utf8", "-m", "weft.cli", *arguments])  # noqa: S606 (this program)
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    if arguments in (["--version"], ["-V"]):
        print(f"weft {__version__}")
        sys.exit(0)
    if arguments[:1] == [COMPLETE]:
        from weft.cli.completion.answer import print_completions  # noqa: PLC0415

        print_completions(arguments[1:])
        sys.exit(0)
    gc.disable()  # until the command is loaded, which takes a seventh less without
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
        if "--json" not in arguments and arguments[0] not in READ_FILES:
            _place_in_options(error, arguments[0])
        print_error(error, as_json="--json" in arguments)
        return error.exit_code
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
        default_parameter=Parameter(show_default=_shown_default),
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
    )
    for name, (function, _) in COMMANDS.items():
        app.command(function, name=name)
    if first not in COMMANDS:
        _add_commands_of_doors(app)
    return app


def _add_commands_of_doors(app: "App") -> None:
    from weft.cli.commands.client_files import command_of  # noqa: PLC0415
    from weft.run.doors import client_doors  # noqa: PLC0415

    for name, door in client_doors().items():
        if door.client is not None:
            app.command(command_of(name, door, door.client), name=name)


def _shown_default(value: object) -> str | None:
    """Return what help shows as an option's default: nothing for a flag that is off."""
    if isinstance(value, Enum):
        return value.name.lower()
    return None if value in (None, False, "", ()) else str(value)


def _dispatch(arguments: list[str]) -> int:
    if _is_printed_at_once(arguments):
        return 0
    from cyclopts import CycloptsError  # noqa: PLC0415

    from weft.cli.terminal.report import print_usage_error  # noqa: PLC0415

    try:
        command, bound, _ = build_app(arguments[0]).parse_args(arguments)
        _check_order(bound.arguments, arguments)
    except CycloptsError as error:
        print_usage_error(error, arguments)
        return USAGE
    from weft.cli.input.named import name_ids  # noqa: PLC0415 (as late as the command itself)

    name_ids(bound)
    _collect_garbage_again()
    outcome = command(*bound.args, **bound.kwargs)
    return outcome if isinstance(outcome, int) else 0


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
        from weft.cli.completion.scripts import SCRIPTS  # noqa: PLC0415

        if len(arguments) == 2 and arguments[1] in SCRIPTS:  # noqa: PLR2004 (with its shell)
            print(SCRIPTS[arguments[1]])
            return True
    return False


def _check_order(bound: Mapping[str, Any], arguments: list[str]) -> None:
    """Refuse an option after the first word of a job's command: `run sort -n` would lose it; and
    words before `--`, which would become a part of the command.
    """
    from cyclopts import CycloptsError  # noqa: PLC0415

    if arguments[:1] not in (["run"], ["each"]):
        return
    words = list(bound.get("command", ()))
    if "--" in arguments:
        if len(words) > len(arguments) - arguments.index("--") - 1:
            raise CycloptsError(
                f"'{words[0]}' stands before the two hyphens, where only options may stand.",
                command_chain=arguments[:1],
            )
        return
    if arguments[len(arguments) - len(words) :] != words:
        raise CycloptsError(
            f"There is an option after '{words[0]}'; it is ambiguous whether it belongs to weft.",
            command_chain=arguments[:1],
        )


def _place_in_options(error: "WeftError", command: str) -> None:
    from weft.cli.input.option_names import name_options  # noqa: PLC0415

    name_options(error, command)


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
