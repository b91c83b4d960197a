"""What the library of guards says, in words for an operator."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_MESSAGE: Final = re.compile(r"<input>:(\d+):(\d+): (Syntax error: )?([^\n]*)")
_UNEXPECTED: Final = re.compile(r"(?:extraneous|mismatched) input '(.*?)'(?: expecting.*)?")
_UNREAD: Final = re.compile(
    r"(?:token recognition error at: |no viable alternative at input )'(.*)'"
)
_MISSING: Final = re.compile(r"missing '(.*?)' at '(.*)'")
_FUNCTION: Final = re.compile(r"Function '(\w+)' error")
_UNDEFINED: Final = re.compile(r"Undefined variable or function: '(\w+)'")
_END: Final = "<EOF>"
_INSTEAD: Final = {"=": "==", "&": "&&", "|": "||", "and": "&&", "or": "||", "“": '"', "”": '"'}
_QUOTES: Final = ("'", '"')
_MIXED: Final = "it mixes values of different types, such as a number and a text"


class Refusal(NamedTuple):
    """Where an expression cannot be read, from 1, and why."""

    line: int
    column: int
    reason: str


def refusal_of(message: str) -> Refusal | None:
    """Return what is wrong with an expression; None: the library does not say where."""
    matches: Sequence[re.Match[str]] = list(_MESSAGE.finditer(message))
    if not matches:
        return None
    first = next((match for match in matches if match[3]), matches[0])
    return Refusal(int(first[1]), int(first[2]), _reason_of(first[4]))


def _reason_of(said: str) -> str:
    if match := _MISSING.fullmatch(said):
        where = "at the end" if match[2] == _END else f"before {match[2]}"
        return f"a {match[1]} is missing {where}"
    if match := _UNREAD.fullmatch(said):
        text = match[1].strip()
        if text.startswith(_QUOTES):
            return "the text that begins here has no closing quote"
        return f"{text} cannot stand here{_advice(text)}"
    if match := _UNEXPECTED.fullmatch(said):
        if match[1] == _END:
            return "it ends too early"
        return f"{match[1]} cannot stand here{_advice(match[1])}"
    if said.startswith("reserved identifier: "):
        return f"{said.partition(': ')[2]} is a reserved word"
    return "it is not an expression"


def _advice(text: str) -> str:
    return f"; write {_INSTEAD[text]}" if text in _INSTEAD else ""


def failure_of(error: Exception) -> str:
    """Return why an expression has no value for a job."""
    said = str(error)
    if isinstance(error, KeyError):
        return f"there is no {error}"
    if isinstance(error, ZeroDivisionError):
        return "it divides by zero"
    if isinstance(error, OverflowError):
        return "a number in it is too large"
    if isinstance(error, IndexError):
        return "a list in it has no such element"
    if match := _FUNCTION.match(said) or _UNDEFINED.match(said):
        return f"{match[1]}() cannot use what it is given"
    return _MIXED if isinstance(error, TypeError) else "it cannot be computed"
