"""Bind usual command lines by `usual_lines.json`, which `tools/generate_command_words.py` writes:
cyclopts takes longer to import, and to look at a command, than most commands take.

Whatever is unusual or may be a mistake is left to cyclopts, so that each message stands once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import BoundArguments, signature
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

FILE: Final = Path(__file__).with_suffix(".json")
_PATH_WORDS: Final = 3
_DIGITS_MAX: Final = 15

Values = dict[tuple[str, str], Any]
"""By argument and field of it; an argument without fields is its own."""


class Doubt(Exception):
    """The line may be a mistake, or is not usual."""


class UsualLine(NamedTuple):
    """A command line that is understood; nothing of the command is imported yet."""

    form: Mapping[str, Any]
    values: Values

    def bound(self) -> tuple[Callable[..., object], BoundArguments]:
        """Import the command; return it with what it is called with."""
        function = _imported(self.form["function"])
        arguments: dict[str, Any] = {}
        for (argument, field), value in self.values.items():
            held = tuple(value) if isinstance(value, list) else value
            if field:
                arguments.setdefault(argument, {})[field] = held
            else:
                arguments[argument] = held
        for argument, record in self.form["records"].items():
            if argument in arguments:
                arguments[argument] = _imported(record)(**arguments[argument])
        return function, BoundArguments(signature(function), arguments)


def usual_line(arguments: Sequence[str]) -> UsualLine | None:
    """Return what a command line means, or None if cyclopts must look at it."""
    try:
        form, words = _form_of(arguments)
        return UsualLine(form, _values_of(form, words))
    except Doubt:
        return None


def _form_of(arguments: Sequence[str]) -> tuple[Mapping[str, Any], Sequence[str]]:
    text = FILE.read_bytes()
    for n_words in range(min(_PATH_WORDS, len(arguments)), 0, -1):
        name = " ".join(arguments[:n_words])
        begin = b"\n%b: " % msgspec.json.encode(name if name.isascii() else "")
        if (at := text.find(begin)) >= 0:
            line = text[at + len(begin) : text.index(b"\n", at + 1)]
            return msgspec.json.decode(line.rstrip(b",")), arguments[n_words:]
    raise Doubt


def _values_of(form: Mapping[str, Any], words: Sequence[str]) -> Values:
    values: Values = {}
    placed: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            placed += rest
        elif word.startswith("-"):
            _set_option(values, form["options"], word, rest)
        else:
            placed.append(word)
    for name, kind, is_needed in form["arguments"]:
        if placed:
            values[name, ""] = _read(kind, placed.pop(0))
        elif is_needed:
            raise Doubt
    if placed:
        name, kind = form["more"] or _doubt()
        values[name, ""] = [_read(kind, word) for word in placed]
    if any((argument, field) not in values for argument, field in form["needed"]):
        raise Doubt
    return values


def _set_option(
    values: Values, options: Mapping[str, Any], word: str, rest: Iterator[str]
) -> None:
    name, equals, text = word.partition("=")
    argument, field, kind, is_repeated = options.get(name) or _doubt()
    if isinstance(kind, bool):
        value: object = kind if not equals else _doubt()
    else:
        text = text if equals else next(rest, "")
        value = _read(kind, text) if text and not text.startswith("-") else _doubt()
    if is_repeated:
        values.setdefault((argument, field), []).append(value)
    elif (argument, field) in values:
        raise Doubt
    else:
        values[argument, field] = value


def _read(kind: Any, text: str) -> object:  # noqa: ANN401 (JSON)
    """Return the value of a text: `kind` is a type, choices, or a type with its limits."""
    name, *limits = kind if isinstance(kind, list) else [kind]
    if name == "choice":
        return text if text in limits else _doubt()
    if name != "int":
        return Path(text) if name == "path" else text
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX):
        raise Doubt
    least, most = limits or (None, None)
    number = int(text)
    is_within = (least is None or number >= least) and (most is None or number <= most)
    return number if is_within else _doubt()


def _imported(path: str) -> Any:  # noqa: ANN401 (a function or a class)
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _doubt() -> Any:  # noqa: ANN401 (it never returns)
    raise Doubt
