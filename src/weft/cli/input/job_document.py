"""The document of a job that runs in the caller's directory and environment."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from weft.cli.terminal.plain import one_line
from weft.cli.terminal.report import note
from weft.core.errors import Invalid

NAME_CHARS_MAX = 256


class NotUtf8(Invalid):
    """Bytes that are not valid UTF-8 text."""

    code = "CLI.NOT_UTF8"
    advice = "Pass such bytes in a file: arguments and standard input travel as UTF-8 text."


class NoCommand(Invalid):
    """A command line without a command to run."""

    code = "CLI.NO_COMMAND"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """Resources and environment of a job."""

    cpu: Annotated[str | None, Parameter(group="Job")] = None
    """Cores, such as 2, 0.25 or 250m (default 1)."""

    memory: Annotated[str | None, Parameter(group="Job")] = None
    """Memory, such as 512Mi or 4Gi (default 512Mi)."""

    timeout: Annotated[float | None, Parameter(group="Job")] = None
    """Seconds after which the job is killed."""

    env: Annotated[tuple[str, ...], Parameter(group="Job", negative="")] = ()
    """Add a variable NAME=VALUE to the environment; may be repeated."""


NO_OPTIONS = JobOptions()


def job_document(
    command: Sequence[str], options: JobOptions, *, stdin: str | None = None
) -> dict[str, Any]:
    """Return the document of one job. Raise `NotUtf8` if the command cannot travel as text."""
    check_text(command)
    job: dict[str, Any] = {"command": list(command), "cwd": current_directory()}
    if stdin is not None:
        job["stdin"] = stdin
    return job | option_fields(options)


def option_fields(options: JobOptions) -> dict[str, Any]:
    """Return the fields of a job document that the options of the command line set."""
    resources = {"cpu": options.cpu, "memory": options.memory}
    given = {name: value for name, value in resources.items() if value is not None}
    fields: dict[str, Any] = {}
    if given:
        fields["resources"] = given
    if options.timeout is not None:
        fields["timeout_s"] = options.timeout
    if options.env:
        fields["env"] = dict(_variable(text) for text in options.env)
    return fields


def caller_environment() -> Mapping[str, str]:
    """Return this process's environment without weft's own token and without invalid UTF-8."""
    whole = {name: value for name, value in os.environ.items() if name != "WEFT_TOKEN"}
    sound = {name: value for name, value in whole.items() if is_utf8(name) and is_utf8(value)}
    if len(sound) < len(whole):
        names = ", ".join(repr(name) for name in whole.keys() - sound.keys())
        note(f"left out of the job's environment (not valid UTF-8): {names}")
    return sound


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


def check_text(texts: Sequence[str]) -> None:
    """Raise `NotUtf8` if one of these came from bytes that are not UTF-8."""
    for text in texts:
        if not is_utf8(text):
            shown = text.encode("utf-8", "backslashreplace").decode()
            raise NotUtf8(
                f"{shown!r} is not valid UTF-8",
                detail="Commands must be valid UTF-8 text.",
                hint="Rename the file, or use a pattern or a symbolic link to it.",
            )


def is_utf8(text: str) -> bool:
    """Say whether text from the operating system was UTF-8 (PEP 383 marks what was not)."""
    return not any("\udc80" <= character <= "\udcff" for character in text)


def show_command(command: Sequence[str]) -> str:
    """Return a command as the name of its batch: printable, not empty, not too long."""
    line = one_line(" ".join(command), width=NAME_CHARS_MAX)
    return "".join(c if c.isprintable() else "\ufffd" for c in line) or "''"


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise Invalid(f"{text!r} is not a variable", hint="Write it as --env NAME=VALUE.")
    check_text([text])
    return name, value
