"""What msgspec says of a wrong value, in words of JSON and YAML and with a JSON pointer; and which
fields of a document have a wrong name or type: all of them, not only the first.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin

import msgspec

from weft.core.errors import UnknownField, WrongType
from weft.core.problems import PROBLEMS_MAX, Problems, pointer_of
from weft.wire.synonyms import nearest_field

_LIMIT: Final = re.compile(r"expected `(?:int|float)` (<=|>=|<|>) (-?[0-9.]+)")
_COMPARED: Final = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}
_FORM: Final = re.compile(r"(`str(?: \| null)?`) matching regex .*", re.DOTALL)
_FIELD: Final = re.compile(r"object (contains unknown|missing required) field `(.*)`")
_KIND: Final = re.compile(r"`([a-z]+(?: \| [a-z]+)*)`")
_EXPECTED: Final = {
    "array": "a list",
    "object": "a mapping",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "bytes": "bytes",
    "datetime": "a time",
}
_GOT: Final = _EXPECTED | {
    "int": "a number",
    "float": "a decimal number",
    "bool": "a truth value",
    "null": "null",
}


def mistake_of(error: str) -> tuple[str, str]:
    """Return where a mistake is, as far as it is said, and what it is.

    >>> mistake_of("Expected `float` <= 5.0 - at `$.jobs[3].timeout_s`")
    ('/jobs/3/timeout_s', 'expected at most 5')
    >>> mistake_of("Expected `array | null`, got `str` - at `$.jobs[0].command`")
    ('/jobs/0/command', 'expected a list, got text')
    """
    path = error.partition(" - at ")[2].strip("`").removeprefix("$").replace("[...]", "")
    return path.replace("[", "/").replace("]", "").replace(".", "/"), said(error)


def said(error: str, example: object = None) -> str:
    """Return what the mistake is. `example`: a value of the field that is right.

    >>> said("Expected `str` matching regex '^3[.][0-9]+$'", "3.12")
    'expected text such as 3.12'
    """
    message = error.partition(" - at ")[0]
    message = message[:1].lower() + message[1:]
    if field := _FIELD.fullmatch(message):
        what = "there is no field" if field[1] == "contains unknown" else "it lacks the field"
        return f"{what} {field[2]!r}"
    message = _LIMIT.sub(
        lambda match: f"expected {_COMPARED[match[1]]} {float(match[2]):.15g}", message
    )
    if example is not None:
        message = _FORM.sub(lambda match: f"{match[1]} such as {example}", message)
    expected, comma, got = message.partition(", got ")
    return _in_words(expected, _EXPECTED) + comma + _in_words(got, _GOT)


def word_of(value: object) -> str:
    """Return what a value is.

    >>> word_of([1])
    'a list'
    """
    kinds = {dict: "object", list: "array", str: "str", bytes: "bytes", bool: "bool"}
    return _GOT["null" if value is None else kinds.get(type(value), "int")]


def _in_words(text: str, words: dict[str, str]) -> str:
    """Write kinds of values in words. That it may be null, too, is what leaving it out does."""

    def spoken(match: re.Match[str]) -> str:
        kinds = [kind for kind in match[1].split(" | ") if kind != "null"] or ["null"]
        if any(kind not in words for kind in kinds):
            return match[0]
        *others, last = dict.fromkeys(words[kind] for kind in kinds)
        return f"{', '.join(others)} or {last}" if others else last

    return _KIND.sub(spoken, text)


Kind = Any  # an annotation: a class, a union, a generic; typing has no type for all of them


def check_types(value: object, kind: Kind, pointer: str, problems: Problems) -> None:
    """Note each part of a value that has a wrong type, and each unknown or missing field: as many
    as `Problems` holds, and as far as it checks.
    """
    if _is_over(problems):
        return
    problems.checks_left -= 1
    bare = _without_none(kind)
    if value is None and type(None) in get_args(_undescribed(kind)):
        return
    container: object = get_origin(bare)
    if isinstance(bare, type) and issubclass(bare, msgspec.Struct):
        _check_struct(value, bare, pointer, problems)
    elif isinstance(value, Mapping) and (kinds := _structs(bare)):
        _check_tagged(value, kinds, pointer, problems)
    elif container is Literal and value not in get_args(bare):
        problems.add(WrongType, pointer, f"expected one of {', '.join(map(str, get_args(bare)))}")
    elif (container is list or container is tuple) and isinstance(value, list):
        for index, item in enumerate(value):
            if _is_over(problems):
                return
            check_types(item, get_args(bare)[0], pointer + pointer_of(index), problems)
    elif container is dict and isinstance(value, dict):
        for key, item in value.items():
            if _is_over(problems):
                return
            check_types(key, get_args(bare)[0], pointer + pointer_of(str(key)), problems)
            check_types(item, get_args(bare)[1], pointer + pointer_of(str(key)), problems)
    elif bare is not msgspec.Raw:
        try:
            msgspec.convert(value, kind)
        except (msgspec.ValidationError, RecursionError) as error:
            problems.add(WrongType, pointer, said(str(error), _example_of(kind)))


def _is_over(problems: Problems) -> bool:
    """Return whether no further value is checked: the first mistakes are said, or it was long."""
    return problems.is_full or problems.checks_left <= 0


def _check_tagged(
    value: Mapping[Any, Any],
    kinds: Sequence[type[msgspec.Struct]],
    pointer: str,
    problems: Problems,
) -> None:
    """Check the only struct that it can be, or one of several, which a field tells apart."""
    if len(kinds) == 1:
        _check_struct(value, kinds[0], pointer, problems)
        return
    tagged = {str(one.__struct_config__.tag): one for one in kinds}
    name = kinds[0].__struct_config__.tag_field or "type"
    if name not in value:
        problems.add(WrongType, pointer + pointer_of(name), "this field is required")
        return
    tag = value[name]
    kind = tagged.get(tag) if isinstance(tag, str) else None
    if kind is None:
        message = f"expected one of {', '.join(sorted(tagged))}"
        problems.add(WrongType, pointer + pointer_of(name), message)
        return
    rest = {key: one for key, one in value.items() if key != name}
    _check_struct(rest, kind, pointer, problems)


def _structs(kind: Kind) -> Sequence[type[msgspec.Struct]]:
    """Return the structs of a union; empty: it is something else."""
    kinds = get_args(kind) if isinstance(kind, UnionType) else ()
    return [one for one in kinds if isinstance(one, type) and issubclass(one, msgspec.Struct)]


def _check_struct(
    value: object, kind: type[msgspec.Struct], pointer: str, problems: Problems
) -> None:
    if not isinstance(value, Mapping):
        problems.add(WrongType, pointer, f"expected a mapping, got {word_of(value)}")
        return
    known = _fields(kind)
    unknown = [key for key in value if key not in known]
    for key in unknown[: PROBLEMS_MAX + 1]:
        problems.near_left -= 1
        near = nearest_field(str(key), known) if problems.near_left >= 0 else None
        hint = f"; did you mean {near}?" if near else ""
        problems.add(UnknownField, pointer + pointer_of(str(key)), f"no such field{hint}")
    problems.n_found += len(unknown[PROBLEMS_MAX + 1 :])
    for name, field in known.items():
        if name in value:
            check_types(value[name], field.type, pointer + pointer_of(name), problems)
        elif field.required:
            problems.add(WrongType, pointer + pointer_of(name), "this field is required")


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def _without_none(kind: Kind) -> Kind:
    """Return X for `X | None` and `X | None | UnsetType`, anything else without description."""
    kind = _undescribed(kind)
    if isinstance(kind, UnionType):
        rest = [arg for arg in get_args(kind) if arg not in {type(None), msgspec.UnsetType}]
        if len(rest) == 1:
            return _undescribed(rest[0])
    return kind


def _example_of(kind: Kind) -> object:
    """Return the first example in the description of a field; None: it has none."""
    notes = getattr(kind, "__metadata__", ())
    examples = (getattr(note, "examples", None) for note in notes)
    return next((values[0] for values in examples if values), None)


def _undescribed(kind: Kind) -> Kind:
    """Return X for `Annotated[X, …]`."""
    return kind.__origin__ if hasattr(kind, "__metadata__") else kind
