"""Write the words that shells complete from the commands, and how usual lines are bound; with
`--check`, only say if they are fresh.
"""

import inspect
import json
import re
import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any

from weft.bench.main import BENCHES
from weft.cli.app import all_commands, build_app
from weft.cli.completion.cursor import ANY, COMMAND, FILE, FILES
from weft.cli.completion.live_words import ASKS
from weft.cli.input import usual_lines
from weft.cli.input.named import TARGETS
from weft.cli.input.options import bounded
from weft.core.ends.conditions import ALWAYS
from weft.ports.runner import RUNNER_PLUGINS
from weft.ports.tester import TESTER_PLUGINS
from weft.settings import all_declared

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import Argument

LIVE_ARGUMENTS: Mapping[str, str] = {
    **dict.fromkeys(sorted(TARGETS), "batches"),
    "condition": "conditions",
    "schedule": "schedules",
    "project": "projects",
    "token": "tokens",
    "session_id": "sessions",
    "operation_id": "operations",
}
"""What the server knows, by the name of an argument or an option."""
LIVE_OPTIONS: Mapping[str, str] = {
    "--queue": "queues",
    "--billing-project": "projects",
    "--pool": "pools",
    "--project": "projects",
    "--batch": "batches",
    "--move-to": "queues",
    "--resume": "batches",
    "--user": "users",
    "--with": "users",
    "--add": "users",
    "--remove": "users",
    "--tenant": "tenants",
    "--visit": "tenants",
    "--secret": "secrets",
    "--secret-file": "secrets",
    "--machine": "flavours",
}
LIVE_OPTIONS_OF: Mapping[tuple[str, str], str] = {
    **{(path, "--batches"): "@queries" for path in ("hold", "release", "cancel", "retry")},
    ("login", "--tenant"): ANY,
    ("billing set-rates", "--machine"): ANY,
}
"""Options that are something else in one command; not logged in, nobody hears of tenants, and
the price of a flavour stands behind its name.
"""
LIVE_NAMES: Mapping[str, str] = {
    "queue": "queues",
    "pool": "pools",
    "worker": "workers",
    "billing project": "projects",
    "query rm": "queries",
    "licence": "licences",
    "secret": "secrets",
    "user": "users",
    "tenant": "tenants",
}
"""What the argument `name` of commands that begin with these words is."""
NEW_NAMES = ("billing project create", "tenant create", "user add")
"""Commands whose name is a new one."""
SIGNALS = ("TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "STOP", "CONT")
WORDS: Mapping[tuple[str, str], Callable[[], Sequence[str]]] = {
    ("signal", "signal"): lambda: SIGNALS,
    ("block", "--tester"): lambda: [ALWAYS, *TESTER_PLUGINS.names()],
    ("bench", "name"): lambda: [*BENCHES],
    ("up", "--runner"): RUNNER_PLUGINS.names,
    ("worker", "--runner"): RUNNER_PLUGINS.names,
}
"""What is one of a few words, though it is any text to the command."""
PATHS = frozenset({"file", "trace", "directory", "arg_file", "joblog", "results", "plot"})
"""Arguments and options that are paths, though they are texts to the command."""


SETTING_CHOICES = {one.option: one.choices for one in all_declared().values()}


def main() -> int:
    """Write or check; the exit code is 1 if the file is not fresh."""
    app = build_app()
    files = {FILE: dict(_commands(app, ())), usual_lines.FILE: dict(_usual_lines(app, ()))}
    for file, parts in files.items():
        lines = (f"{json.dumps(path)}: {json.dumps(one)}" for path, one in parts.items())
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        if "--check" not in sys.argv[1:]:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"{file.name} is stale: run `make reference` and commit it.")
            return 1
    return 0


def _usual_lines(app: "App", path: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if app.default_command is not None and (form := _form(app)):
        yield " ".join(path), form
    for name in app:
        if not name.startswith("-"):
            yield from _usual_lines(app[name], (*path, name))


def _form(app: "App") -> Mapping[str, Any] | None:
    """Return what binds the usual lines of a command; None: each line is for cyclopts."""
    function = app.default_command
    assert callable(function)
    collected = [one for one in app.assemble_argument_collection() if one.parse]
    records = {one.field_info.name: one.hint for one in collected if one.names == ("*",)}
    given = [one for one in collected if one.names != ("*",)]
    placed = sorted(
        (one for one in given if one.index is not None), key=lambda one: one.index or 0
    )
    more = [one for one in placed if one.is_var_positional()]
    single = [one for one in placed if one not in more]
    named = [one for one in given if one.index is None]
    is_read = all(map(_read_as, placed)) and not any(map(_is_repeated, single))
    if "<locals>" in _place_of(function) or not is_read:
        return None
    return {
        "function": _place_of(function),
        "arguments": [[one.field_info.name, _read_as(one), one.required] for one in single],
        "more": [more[0].field_info.name, _read_as(more[0])] if more else None,
        "options": {
            word: [*_field_of(one, records), _read_as(one, word), _is_repeated(one)]
            for one in named
            for word in one.names
            if _read_as(one, word) is not None
        },
        "needed": [_field_of(one, records) for one in named if one.required],
        "records": {name: _place_of(kind) for name, kind in records.items()},
    }


def _place_of(thing: Any) -> str:  # noqa: ANN401 (a function or a class)
    return f"{thing.__module__}:{thing.__qualname__}"


def _field_of(one: "Argument", records: Mapping[str, Any]) -> tuple[str, str]:
    name = one.field_info.name
    if not one.keys:
        return name, ""
    (record,) = (key for key, kind in records.items() if name in kind.__dataclass_fields__)
    return record, name


def _is_repeated(one: "Argument") -> bool:
    return typing.get_origin(one.hint) is tuple or one.is_var_positional()


def _read_as(one: "Argument", word: str = "") -> object:
    """Return how its texts are read; None: by cyclopts alone."""
    hints = typing.get_args(one.hint) if _is_optional(one.hint) else (one.hint,)
    kinds = [kind for kind in hints if kind is not NoneType]
    checks: Any = one.parameter.validator
    limits = [_limits(check) for check in checks]
    if one.parameter.converter or one.parameter.n_tokens or None in limits or len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind is bool:
        return word not in one.negatives if word else None
    if typing.get_origin(kind) is typing.Literal:
        return ["choice", *typing.get_args(kind)]
    if typing.get_origin(kind) is tuple:
        return "str" if typing.get_args(kind) == (str, ...) and not limits else None
    name = {str: "str", int: "int", Path: "path"}.get(kind)
    return [name, *limits[0]] if name and limits and limits[0] else name


def _is_optional(hint: object) -> bool:
    return typing.get_origin(hint) in (typing.Union, UnionType)


def _limits(check: Any) -> tuple[float | None, float | None] | None:  # noqa: ANN401
    """Return the limits that a validator has; None: it is another one."""
    if check.__qualname__ != bounded(0).__qualname__:
        return None
    held = inspect.getclosurevars(check).nonlocals
    return held["least"], held.get("most")


def _commands(app: "App", path: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    below = [name for name in app if not name.startswith("-")]
    name = " ".join(path)
    arguments = (
        app.assemble_argument_collection(parse_docstring=True)
        if app.default_command is not None
        else ()
    )
    given = [one for one in arguments if one.parse and one.names != ("*",)]
    placed = [one for one in given if one.index is not None]
    options = {
        word: [_sentence_of(one), "" if _is_flag(one, word) else _value_of(one, name)]
        for one in given
        for word in one.names
        if word.startswith("-")
    }
    yield (
        name,
        {
            "commands": {one: _sentence(app, path, one) for one in below},
            "options": {**options, "--help": ["Show this page.", ""]},
            "arguments": list(_arguments_of(placed, name)),
            "repeats": any(one.is_var_positional() for one in placed),
        },
    )
    for one in below:
        yield from _commands(app[one], (*path, one))


def _sentence(app: "App", path: tuple[str, ...], name: str) -> str:
    if not path:
        return all_commands()[name]
    return _first(app[name].help)


def _sentence_of(one: "Argument") -> str:
    if not one.parameter.help:
        raise LookupError(f"{one.names[0]} has no description in the command's docstring")
    return re.split(r"[;:(]|, such as", _first(one.parameter.help))[0].rstrip(" ,.")


def _first(text: str) -> str:
    """Return the first sentence of a text."""
    words = " ".join(text.partition("\n\n")[0].split())
    return words.partition(". ")[0].partition(": ")[0].rstrip(".")


def _is_flag(one: "Argument", name: str) -> bool:
    is_either = bool in typing.get_args(one.hint) and bool(one.negatives)
    return one.is_flag() or name in one.negatives or is_either


def _value_of(one: "Argument", path: str) -> str | list[str]:
    for name in one.names:
        if (path, name) in LIVE_OPTIONS_OF:
            return LIVE_OPTIONS_OF[path, name]
        if (path, name) in WORDS:
            return [*WORDS[path, name]()]
        if name in LIVE_OPTIONS:
            return LIVE_OPTIONS[name]
        if choices := SETTING_CHOICES.get(name):
            return [*choices]
    return _kind_of(one)


def _arguments_of(placed: Sequence["Argument"], path: str) -> Iterator[str | list[str]]:
    kind: str | list[str] = ANY
    for one in sorted(placed, key=lambda one: one.index or 0):
        if one.field_info.name != "others":  # which are more of the same
            kind = _argument_of(one, path)
        yield kind


def _argument_of(one: "Argument", path: str) -> str | list[str]:
    name = one.field_info.name
    if name == COMMAND:
        return COMMAND
    if (path, name) in WORDS:
        return [*WORDS[path, name]()]
    if name == "name" and path not in NEW_NAMES:
        found = [kind for words, kind in LIVE_NAMES.items() if f"{path} ".startswith(f"{words} ")]
        return found[0] if found else ANY
    if path == "ls" and name == "query":
        return "@queries"
    return LIVE_ARGUMENTS.get(name) or _kind_of(one)


def _kind_of(one: "Argument") -> str | list[str]:
    choices = one.get_choices(force=True)
    if choices:
        return list(choices)
    is_path = one.field_info.name in PATHS or Path in _types(one.hint)
    return FILES if is_path else ANY


def _types(hint: object) -> set[object]:
    return {hint, *(typing.get_args(hint))} - {NoneType}


if __name__ == "__main__":
    live = (LIVE_ARGUMENTS, LIVE_OPTIONS, LIVE_OPTIONS_OF, LIVE_NAMES)
    assert {kind for kinds in live for kind in kinds.values()} <= {*ASKS, ANY}
    sys.exit(main())
