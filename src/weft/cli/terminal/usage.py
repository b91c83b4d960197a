"""Mistakes in a command line, in the words of the other messages."""

from collections.abc import Collection, Mapping
from typing import Literal, get_args, get_origin

from cyclopts import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    RepeatArgumentError,
    Token,
    ValidationError,
)
from cyclopts.exceptions import UnknownCommandError, UnknownOptionError, UnusedCliTokensError
from cyclopts.utils import is_option_like

from weft.core.text.texts import nearest
from weft.wire.synonyms import nearest_field

_MEANT: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("batches", "list", "ps", "squeue", "qstat", "history"), ("ls",)),
    **dict.fromkeys(("kill", "stop", "abort", "scancel", "qdel"), ("cancel", "down")),
    **dict.fromkeys(("rm", "remove", "delete"), ("rm", "delete", "revoke")),
    **dict.fromkeys(("info", "describe", "show", "inspect", "get"), ("show", "status")),
    **dict.fromkeys(("add", "new", "create"), ("create", "add", "set", "submit")),
    **dict.fromkeys(("sbatch", "qsub", "srun", "exec"), ("submit", "run")),
    **dict.fromkeys(("xargs", "parallel", "map"), ("each",)),
    **dict.fromkeys(("tail", "output", "cat"), ("logs",)),
    **dict.fromkeys(("start", "serve", "server", "daemon"), ("up", "resume")),
    **dict.fromkeys(("ui", "web", "dashboard"), ("open",)),
}
"""What other programs call it: of the commands that there are the first."""
_PLACES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("incident", "error", "cause"), ("failures", "condition ls")),
    **dict.fromkeys(("sink", "message", "delivery", "deliverie"), ("line ls", "line deliveries")),
    **dict.fromkeys(("lifecycle", "setup", "statuse"), ("line apply", "line ls")),
    "attempt": ("status",),
    **dict.fromkeys(("machine", "node", "host"), ("worker ls", "pool ls")),
    "setting": ("config",),
    **dict.fromkeys(("rate", "price", "cost"), ("billing rates", "billing report")),
    "role": ("user role", "system"),
    **dict.fromkeys(("output", "artifact", "result"), ("logs", "files get")),
    **dict.fromkeys(("dependencie", "parent", "graph"), ("dag", "jobs")),
}
"""Where the nouns of the guides are, without their last s, which are no commands."""
_PLACES_MAX = 3
_OPTIONS: Mapping[str, str] = {"--all": "--batches"}
"""Likewise of options that are no fields of a job."""
_KINDS = {int: "a whole number", float: "a number", bool: "no value"}


def explain_usage(error: CycloptsError, commands: Collection[str]) -> str:
    """Say what is wrong with a command line. `commands`: all that there are, also below others."""
    text = _explain(error, commands)
    return text if text is not None else _plainly(str(error))


def _explain(error: CycloptsError, commands: Collection[str]) -> str | None:
    if error.msg is not None:
        return None
    match error:
        case UnknownOptionError():
            option = (error.token.keyword or error.token.value).partition("=")[0]
            if option == "--yes":
                return f"there is no option --yes: `{_command_of(error)}` asks nothing"
            return f"there is no option {option}{_suggestion(option, error)}"
        case UnusedCliTokensError() | UnknownCommandError() if error.unused_tokens:
            if isinstance(error, UnknownCommandError):
                return _no_command(error.unused_tokens[0], error, commands)
            if told := _taken_option(error):
                return told
            unused = " ".join(error.unused_tokens)
            return f"`{_command_of(error)}` takes no further arguments: {unused}"
        case MissingArgumentError() if error.argument is not None:
            given = [token.keyword for token in error.argument.tokens if token.keyword is not None]
            name = error.keyword or next(reversed(given), "")
            if not name and error.argument.index is not None:  # `submit FILE`, too
                return f"{error.argument.name.lstrip('-').upper()} is missing"
            return f"{name or error.argument.name} needs a value"
        case CoercionError() if error.token is not None and error.target_type is not None:
            return _explain_value(error)
        case ValidationError():
            return _explain_limit(error)
        case RepeatArgumentError():
            return f"{error.token.keyword or error.token.value} is given twice"
    return None


def _taken_option(error: CycloptsError) -> str | None:
    """Name an unknown option that an argument took which may begin with a hyphen, such as `-`."""
    assert error.app is not None
    words = list(error.root_input_tokens or ())
    before = words[: words.index("--")] if "--" in words else words
    known = error.app.assemble_argument_collection()
    names = {name for argument in known for name in argument.names}
    for word in before:
        name = word.partition("=")[0]
        if word != "-" and is_option_like(word) and name not in names:
            unknown = UnknownOptionError(
                token=Token(keyword=name, source="cli"),
                argument_collection=known,
                command_chain=error.command_chain,
            )
            return _explain(unknown, ())
    return None


def _no_command(word: str, error: CycloptsError, commands: Collection[str]) -> str:
    kind = "option" if word.startswith("-") else "command"
    known = [*error.app] if error.app is not None else []
    for meant in _MEANT.get(word, ()):
        if meant in known:
            return f"there is no command {word}; did you mean {meant}?"
    elsewhere = "" if error.command_chain else _elsewhere(word, commands)
    return f"there is no {kind} {word}{elsewhere or _suggestion(word, error)}"


def _elsewhere(word: str, known: Collection[str]) -> str:
    """Suggest the commands that are called so below others, and where a noun belongs."""
    below = _PLACES.get(word.lower().removesuffix("s"), ())
    commands = below or [one for one in known if one.split()[1:][-1:] == [word]]
    return f"; did you mean {' or '.join(commands)}?" if 0 < len(commands) <= _PLACES_MAX else ""


def _command_of(error: CycloptsError) -> str:
    return " ".join(("weft", *(error.command_chain or ())))


def _explain_value(error: CoercionError) -> str | None:
    token, target = error.token, error.target_type
    assert token is not None
    name = _name_of(token, error)
    if get_origin(target) is Literal:
        *others, last = map(str, get_args(target))
        choices = f"{', '.join(others)} or {last}" if others else last
        return f"{name} takes {choices}, not {token.value!r}"
    kind = _KINDS.get(target) if isinstance(target, type) else None
    return kind and f"{name} takes {kind}, not {token.value!r}"


def _explain_limit(error: ValidationError) -> str | None:
    tokens = error.argument.tokens if error.argument is not None else ()
    if not tokens or not error.exception_message:
        return None
    rule = _plainly(error.exception_message)
    return f"{_name_of(tokens[0], error)} {rule}, not {tokens[0].value!r}"


def _name_of(token: Token, error: CycloptsError) -> str | None:
    """Return an option as it was written, or the name that an argument has in the help."""
    if token.keyword is not None or error.argument is None:
        return token.keyword
    return error.argument.name.lstrip("-").upper()


def _suggestion(given: str, error: CycloptsError) -> str:
    """Return what cyclopts found, if that is much like it."""
    near = None
    if isinstance(error, UnknownOptionError):
        known = {name for one in error.argument_collection for name in one.names}
        word = _OPTIONS.get(given) or f"--{nearest_field(given[2:], {one[2:] for one in known})}"
        near = word if word in known else None
    words = str(error).partition("Did you mean ")[2]
    near = near or nearest(given, [words.partition("?")[0].strip('"')])
    return f"; did you mean {near}?" if near else ""


def _plainly(text: str) -> str:
    text = text.strip().removesuffix(".")
    return f"{text[:1].lower()}{text[1:]}"
