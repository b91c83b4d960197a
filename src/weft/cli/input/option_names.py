"""Where on the command line a mistake is: an option or a word instead of a JSON pointer."""

import re
from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Final

from weft.cli.input.job_document import JobOptions
from weft.core.errors import InvalidParameter, InvalidSetup, WeftError

_JOB: Final = re.compile("/jobs/[0-9]+(?=/|$)")
_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "/resources": "--cpu and --memory",
        "/resources/cpu": "--cpu",
        "/resources/memory": "--memory",
        "/resources/storage": "--storage",
        "/resources/gpu": "--gpu",
        "/container/image": "--image",
        "/requirements/python": "--python",
        "/billing_project": "--billing-project",
        "/unique/key": "--unique",
        "/timeout_s": "--timeout",
        "/max_attempts": "--retries",
        "/command": "the command",
        "/stdin": "standard input",
        "/inherit_env": "the environment",
        "/name": "--name",
        "/max_running": "--jobs",
        "/priority": "--priority",
        "/network": "--no-network",
        "/log/max_bytes": "--log-max",
        "/log/keep_s": "--log-keep",
        "/amount_max": "the amount",
        "/cost_max": "the amount",
        "/amount_soft_max": "--soft",
        "/cost_soft_max": "--soft",
    }
)
_WORDS: Final = (
    (re.compile("/retry(?:/.*)?"), "--retry-wait"),
    (re.compile("/retry_on(?:/.*)?"), "--retry-on"),
    (re.compile("/retry_with(?:/.*)?"), "--retry-with"),
    (re.compile("/external_errors(?:/.*)?"), "--external-errors"),
    (re.compile("/exit_codes(?:/.*)?"), "--exit-codes"),
    (re.compile("/resources/(.*)"), "--resource {}"),
    (re.compile("/env/(.*)"), "--env {}"),
    (re.compile("/inherit_env/(.*)"), "the variable {}"),
    (re.compile("/attributes/(.*)"), "the attribute {}"),
    (re.compile(r"\?q"), "the query"),
    (re.compile(r"\?(\w+)"), "--{}"),
)
_COMMAND_WORD: Final = re.compile("/command/([0-9]+)")


def name_options(error: WeftError, command: str) -> None:
    """Make an error of a command speak of what its user typed."""
    if isinstance(error, InvalidSetup):
        return  # it speaks of a file, whose fields are no options
    error.point(lambda pointer: option_of(pointer, command))
    error.errors = tuple(dict.fromkeys(error.errors))  # the jobs of `each` share their options
    if isinstance(error, InvalidParameter):
        error.message = f"the value of {error.errors[0].pointer} is wrong"
        error.hint = f"`weft {command} --help` shows the form of each option."
    elif len(error.errors) == 1 and not error.errors[0].pointer.startswith("the query"):
        error.detail = f"{error.errors[0]}."


def option_of(pointer: str, command: str) -> str:
    """Return what stands for a field of a document on the command line.

    >>> option_of("/jobs/0/resources/cpu", "run")
    '--cpu'
    """
    field = _JOB.sub("", pointer, count=1)
    if field == "/name" and command == "rename":
        return "the new name"
    if word := _COMMAND_WORD.fullmatch(field):
        return f"word {int(word[1]) + 1} of the command"
    if field in _OPTIONS:
        return _OPTIONS[field]
    for pattern, text in _WORDS:
        if match := pattern.fullmatch(field):
            return text.format(
                *(key.replace("~1", "/").replace("~0", "~") for key in match.groups())
            )
    name, _, within = field.strip("/").partition("/")
    if name in {one.name for one in fields(JobOptions)}:
        return "--" + name.replace("_", "-")
    return ".".join(filter(None, (name, within.replace("/", ".")))) or "the command line"
