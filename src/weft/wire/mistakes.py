"""What msgspec says of a wrong value, in words of JSON and YAML and with a JSON pointer."""

import re
from typing import Final

_LIMIT: Final = re.compile(r"expected `(?:int|float)` (<=|>=|<|>) (-?[0-9.]+)")
_COMPARED: Final = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}
_FORM: Final = re.compile(r"(`str(?: \| null)?`) matching regex .*", re.DOTALL)
_FIELD: Final = re.compile(r"object (contains unknown|missing required) field `(.*)`")
_KIND: Final = re.compile(r"`([a-z]+(?: \| [a-z]+)*)`")
_EXPECTED: Final = {
    "array": "a list", "object": "a mapping", "str": "text", "int": "a whole number",
    "float": "a number", "bool": "true or false", "bytes": "bytes", "datetime": "a time",
}  # fmt: skip
_GOT: Final = _EXPECTED | {
    "int": "a number", "float": "a decimal number", "bool": "a truth value",
    "null": "null",
}  # fmt: skip


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
    message = _LIMIT.sub(lambda match: f"expected {_COMPARED[match[1]]} {float(match[2]):.15g}",
                         message)  # fmt: skip
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
