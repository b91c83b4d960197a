"""The document of a job that runs in the caller's directory and environment."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from weft.cli.input.options import check_text, read_option
from weft.cli.input.shape_options import ShapeOptions, shape_fields
from weft.cli.input.signature import Parameter
from weft.cli.terminal.plain import one_line
from weft.cli.terminal.report import note
from weft.client.submission.ahead import Packing, caller_environment
from weft.core.errors import Invalid
from weft.core.text.durations import parse_seconds


def inherited_environment(
    *, home: Path | None, clean: bool, left_out: Sequence[str]
) -> Mapping[str, Any]:  # fields of documents have several types
    """Return the field `inherit_env` of a request; none if the caller's environment stays here.

    weft's own secrets, what `left_out` and the setting `no_env` match and what is not UTF-8 are
    left out.
    """
    found = None if clean else caller_environment(home=home, left_out=left_out)
    if found is None:
        return {}
    if found.not_utf8:
        names = ", ".join(map(repr, found.not_utf8))
        note(f"left out of the job's environment (not valid UTF-8): {names}")
    return {"inherit_env": found.variables}


def given_variable(text: str) -> tuple[str, str]:
    """Return what `--env NAME=VALUE` or `--env NAME` sets; the latter has the caller's value."""
    name, equals, value = text.partition("=")
    if not name:
        raise Invalid(
            f"{text!r} is not a variable", hint="Write it as --env NAME=VALUE or --env NAME."
        )
    if not equals:
        if name not in os.environ:
            raise Invalid(
                f"there is no variable {name} to pass on",
                detail="`--env NAME` passes on a variable of this shell.",
                hint=f"Export it, or write --env {name}=VALUE.",
            )
        value = os.environ[name]
    check_text([name, value])
    return name, value


NAME_CHARS_MAX = 256


class NoCommand(Invalid, code="CLI.NO_COMMAND"):
    """A command line without a command to run."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class JobOptions(ShapeOptions):
    """Resources and environment of a job, and when it may run."""

    timeout: Annotated[str | None, Parameter(group="Job")] = None
    """Stop the job after this time: seconds, or 10m, 1h30m, 1-12:00:00."""

    queue: Annotated[str | None, Parameter(group="Job")] = None
    """Queue in which it waits (default: the first whose guard is true)."""

    cwd: Annotated[Path | None, Parameter(group="Job")] = None
    """Directory of the job (default: this one)."""

    env: Annotated[tuple[str, ...], Parameter(group="Job", negative="")] = ()
    """Set a variable NAME=VALUE, or pass on the variable NAME of this shell; may be repeated."""

    clean_env: Annotated[bool, Parameter(group="Job", negative="")] = False
    """Do not pass on this shell's environment; add single variables with --env."""

    no_env: Annotated[tuple[str, ...], Parameter(group="Job", negative="")] = ()
    """Leave out variables that match this pattern, such as 'AWS_*'; may be repeated."""

    secret: Annotated[tuple[str, ...], Parameter(group="Job", negative="")] = ()
    """Give it a secret as a variable: NAME=VARIABLE (default: NAME in capitals); repeatable."""

    secret_file: Annotated[tuple[str, ...], Parameter(group="Job", negative="")] = ()
    """Give it a secret as a file in $WEFT_SECRETS_DIR: NAME=FILE (default: NAME); repeatable."""

    no_network: Annotated[bool, Parameter(group="Job", negative="")] = False
    """Run it without network; it ends as an error on a worker that cannot see to that."""


NO_OPTIONS = JobOptions()


def job_document(
    command: Sequence[str], options: JobOptions, *, stdin: str | None = None
) -> dict[str, Any]:
    """Return the document of one job. Raise `NotUtf8` if the command cannot travel as text."""
    check_text(command)
    job: dict[str, Any] = {"command": list(command), **placed_fields(options)}
    return job if stdin is None else job | {"stdin": stdin}


def placed_fields(options: JobOptions) -> dict[str, Any]:
    """Return the fields of a job that runs as if in this shell: also its umask, and its directory,
    which an image does not have.
    """
    umask = os.umask(0o077)
    os.umask(umask)
    needs_none = any(one is not None for one in (options.image, options.cwd, options.code))
    directory = {} if needs_none else {"cwd": current_directory()}
    return {**directory, "umask": f"{umask:04o}", **option_fields(options)}


def option_fields(options: JobOptions) -> dict[str, Any]:
    """Return the fields of a job document that the options of the command line set."""
    fields = shape_fields(options)
    if options.timeout is not None:
        fields["timeout_s"] = read_option("--timeout", options.timeout, parse_seconds)
    if options.queue is not None:
        check_text([options.queue])
        fields["queue"] = options.queue
    if options.cwd is not None:
        is_whole = Path(options.cwd).is_absolute()
        cwd = str(options.cwd if is_whole else Path(current_directory(), options.cwd))
        check_text([cwd])
        fields["cwd"] = cwd
    if options.env:
        fields["env"] = dict(given_variable(text) for text in options.env)
    if options.secret or options.secret_file:
        fields["secrets"] = _secret_uses(options)
    if options.no_network:
        fields["network"] = False
    Packing().fill(fields)
    return fields


def _secret_uses(options: JobOptions) -> list[dict[str, str]]:
    check_text([*options.secret, *options.secret_file])
    variables = [text.partition("=") for text in options.secret]
    files = [text.partition("=") for text in options.secret_file]
    return [
        *(
            {"name": name, "env": to or re.sub(r"[^A-Za-z0-9_]", "_", name).upper()}
            for name, _, to in variables
        ),
        *({"name": name, "file": to or name} for name, _, to in files),
    ]


def request_fields(options: JobOptions, home: Path | None) -> Mapping[str, Any]:
    """Return the fields of a request that all its jobs share."""
    return inherited_environment(home=home, clean=options.clean_env, left_out=options.no_env)


def current_directory() -> str:
    """Return the directory of the caller by the name the shell gives it, else by its real one."""
    try:
        real = os.getcwd()  # noqa: PTH109 (text is what the document takes)
    except FileNotFoundError as error:
        raise Invalid(
            "the current directory no longer exists",
            detail="A job runs in the caller's directory.",
            hint="Change to another directory.",
        ) from error
    named = os.environ.get("PWD", "")
    try:
        if named.startswith("/") and os.path.samefile(named, real):  # noqa: PTH121 (same)
            real = named
    except OSError:
        pass
    check_text([real])
    return real


def show_command(command: Sequence[str]) -> str:
    """Return a command as the name of its batch: printable, not empty, not too long."""
    line = one_line(" ".join(command), width=NAME_CHARS_MAX)
    return "".join(c if c.isprintable() else "\ufffd" for c in line) or "''"
