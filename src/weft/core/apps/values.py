"""Values of parameters: checked by what the application says, and turned into variables.

A value is a variable of the program and nothing else: it is never part of a text that is run.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from weft.core.bounded import Unreadable, read_json

TYPES: Final = ("string", "number", "bool", "flag", "enumeration")
VALUE_CHARS_MAX: Final = 10_000
_WORDS: Final = {"true": True, "1": True, "false": False, "0": False}


class Parameter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A parameter of an application, or an input."""

    id: str
    """Also the name of the variable."""
    type: str = "string"
    label: str = ""
    required: bool = False
    visible: bool = True
    """False: its default counts, and nobody sets it."""
    pattern: str | None = None
    """Each value matches it as a whole."""
    choices: tuple[str, ...] = ()
    argument: str = ""
    show_argument: bool = False
    repeat_argument: bool = False
    least: int = 0
    most: int = 1
    """How many values it has; -1: any number."""
    default: Any = None


class WrongValue(ValueError):
    """A value that is refused, and why."""


def wrong_default(parameter: Parameter) -> str | None:
    """Return what is wrong with the default; None: nothing, or there is none."""
    if parameter.default in (None, "", []):
        return None
    try:
        _texts_of(parameter, parameter.default, is_default=True)
    except WrongValue as error:
        return str(error)
    return None


class Variable(NamedTuple):
    """What a wrapper gets of a parameter, or why it gets nothing."""

    name: str
    text: str
    wrong: str = ""


def variables_of(
    parameters: tuple[Parameter, ...], given: Mapping[str, Any]
) -> Iterator[Variable]:
    """Yield each variable with its text, or with what is wrong; names that nobody knows, too."""
    known = {one.id: one for one in parameters}
    for name in given:
        if name not in known:
            yield Variable(name, "", "the application has no such parameter")
        elif not known[name].visible:
            yield Variable(name, "", "the application does not let it be set")
    for one in parameters:
        value = given.get(one.id) if one.visible else None
        if value is None or value == []:
            is_missing = one.visible and one.required and one.default in (None, "", [])
            if is_missing:
                yield Variable(one.id, "", "it is required")
                continue
            value = one.default
        try:
            yield Variable(one.id, _text_of(one, value))
        except WrongValue as error:
            yield Variable(one.id, "", str(error))


def _text_of(parameter: Parameter, value: Any) -> str:  # noqa: ANN401 (JSON)
    if value in (None, "", []) and parameter.default in (None, "", [], value):
        return "0" if parameter.type == "bool" else ""
    texts = _texts_of(parameter, value, is_default=value is parameter.default)
    if parameter.type == "flag":
        return parameter.argument if texts == ["1"] else ""
    return joined(parameter, texts)


def joined(parameter: Parameter, texts: Sequence[str]) -> str:
    """Return the variable of a parameter or an input with these values."""
    if not parameter.show_argument or not parameter.argument or not texts:
        return " ".join(texts)
    if parameter.repeat_argument:
        return " ".join(f"{parameter.argument}{text}" for text in texts)
    return f"{parameter.argument}{' '.join(texts)}"


def wrong_text(parameter: Parameter, text: str) -> str | None:
    """Return why a text cannot be a value: its pattern; None: it can."""
    if parameter.pattern is not None and not _matches(parameter.pattern, text):
        return f"it does not match {parameter.pattern}"
    return None


def _texts_of(parameter: Parameter, value: Any, *, is_default: bool) -> list[str]:  # noqa: ANN401 (JSON)
    values = value if isinstance(value, list) else [value]
    if not is_default and len(values) < parameter.least:
        raise WrongValue(f"{len(values)} values, at least {parameter.least}")
    if parameter.most >= 0 and len(values) > max(parameter.most, 1):
        raise WrongValue(f"{len(values)} values, at most {max(parameter.most, 1)}")
    texts = [_one_text(parameter, each) for each in values]
    if sum(map(len, texts)) > VALUE_CHARS_MAX:
        raise WrongValue(f"more than {VALUE_CHARS_MAX} characters")
    return texts


def _one_text(parameter: Parameter, value: Any) -> str:  # noqa: ANN401 (JSON)
    if parameter.type in {"bool", "flag"}:
        return _bool_text(value)
    if parameter.type == "number":
        text = _number_text(value)
    elif isinstance(value, str):
        text = value
    elif parameter.type == "enumeration" and isinstance(value, int | float):
        text = msgspec.json.encode(value).decode()
    else:
        raise WrongValue("expected a text")
    if "\0" in text:
        raise WrongValue("a text cannot contain NUL")
    if len(text) > VALUE_CHARS_MAX:
        raise WrongValue(f"{len(text)} characters, at most {VALUE_CHARS_MAX}")
    if parameter.type == "enumeration" and text not in parameter.choices:
        raise WrongValue(f"expected one of {', '.join(parameter.choices)}")
    if why := wrong_text(parameter, text):
        raise WrongValue(why)
    return text


def _bool_text(value: Any) -> str:  # noqa: ANN401 (JSON)
    found = value
    if isinstance(value, str):
        found = _WORDS.get(value.lower())
    elif isinstance(value, int) and value in {0, 1}:
        found = bool(value)
    if not isinstance(found, bool):
        raise WrongValue("expected true or false")
    return "1" if found else "0"


def _number_text(value: Any) -> str:  # noqa: ANN401 (JSON)
    if isinstance(value, str):
        try:
            value = read_json(value)
        except Unreadable:
            raise WrongValue("expected a number") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise WrongValue("expected a number")
    return str(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond floats
        return False


def _matches(pattern: str, text: str) -> bool:
    """Match in RE2's way, which never goes back: its time grows with the text and no more."""
    from weft.core.queues.cel_library import cel  # noqa: PLC0415 (few need it)

    context = cel.Context({"pattern": f"^(?:{pattern})$", "text": text})
    return bool(cel.evaluate("text.matches(pattern)", context))
