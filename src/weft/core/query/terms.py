"""From the words of one term to its node: which field it is, and what it may be compared with;
and where in a query something is wrong, told so that a person sees it.
"""

import math
import re
import signal
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from weft.core.query.fields import FIELDS, MATCHES, OPERATORS, REASONS, STATES, SYNONYMS, Kind
from weft.core.query.tree import (
    AmountTerm,
    And,
    AnyTerm,
    AttributeTerm,
    Field,
    IntegerTerm,
    MissingTerm,
    Node,
    Not,
    Operator,
    Or,
    ReasonTerm,
    StateTerm,
    Subject,
    TextTerm,
    TimeTerm,
)
from weft.core.text.texts import nearest

if TYPE_CHECKING:
    from lark import Token
else:
    Token = str  # what it is; the parser is not loaded for its type
import unicodedata
from dataclasses import dataclass

from weft.core.errors import BadQuery

SHOWN_MAX = 76
"""Characters of a line that are shown around the mark."""


@dataclass(frozen=True)
class Wrong(Exception):
    """Something is wrong with these characters; `parse_query` makes the error of it."""

    start: int
    stop: int
    message: str


def bad_query(text: str, wrong: Wrong) -> BadQuery:
    """Return the error that names line and column, with a mark below it."""
    start = min(wrong.start, len(text))
    line_start = text.rfind("\n", 0, start) + 1
    line_stop = text.find("\n", start)
    line = text[line_start : len(text) if line_stop < 0 else line_stop]
    column = start - line_start
    return BadQuery.at(
        wrong.message,
        line=text.count("\n", 0, start) + 1,
        column=column + 1,
        picture=_picture(line, column, max(1, wrong.stop - start)),
    )


def _picture(line: str, column: int, width: int) -> str:
    """Draw the part of the line around a column, and a mark below it."""
    first = max(0, min(column - SHOWN_MAX // 2, len(line) - SHOWN_MAX))
    shown = "".join(_drawn(one) for one in line[first : first + SHOWN_MAX])
    mark = "^" * max(1, min(width, len(shown) - (column - first)))
    return f"{shown}\n{' ' * (column - first)}{mark}"


def _drawn(character: str) -> str:
    """Replace characters that take no column, or more than one."""
    if character.isspace():
        return " "
    return character if unicodedata.category(character)[0] in "LNPSZ" else "\ufffd"


KEYWORDS: Final = frozenset({"and", "or", "not"})
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")
# A float may need 21 digits after the point: four zeros, and 17 that tell it from its neighbours.
_AMOUNT: Final = re.compile(
    r"[+-]?(?:[0-9]{1,18}(?:\.[0-9]{0,24})?|\.[0-9]{1,24})(?:[eE][+-]?[0-9]{1,3})?"
)
_ID: Final = MappingProxyType(
    {Field.JOB_ID: re.compile(r"j?([0-9]{1,18})"), Field.BATCH_ID: re.compile(r"b?([0-9]{1,18})")}
)
_BARE_ID: Final = MappingProxyType(
    {Field.JOB_ID: re.compile(r"j([0-9]{1,18})"), Field.BATCH_ID: re.compile(r"b([0-9]{1,18})")}
)
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2}))?"
)
_ESCAPE: Final = re.compile(r'\\(["\\])')


def text_of(token: Token) -> str:
    r"""Return what a value stands for; in quotes `\"` is a quote and `\\` a backslash."""
    if token.type != "STRING":
        return str(token)
    return _ESCAPE.sub(r"\1", token[1:-1])


def any_term(subject: Subject, operator: Operator, token: Token) -> Node:
    """Return the node of a word that stands alone; `b12` is a batch, `j7` a job."""
    if token.type == "WORD" and token.lower() in KEYWORDS:
        raise _wrong(token, f"{token} joins terms, but there is none here to join")
    field = Field.JOB_ID if subject is Subject.JOBS else Field.BATCH_ID
    if token.type == "WORD" and (named := _BARE_ID[field].fullmatch(token)):
        return IntegerTerm(field, Operator.EQ, int(named[1]))
    return AnyTerm(operator, text_of(token))


def attribute_term(key: Token, operator: Token, value: Token) -> Node:
    """Return the node of `key = value`, whatever the key is."""
    return AttributeTerm(text_of(key), _operator(operator, MATCHES), text_of(value))


def attribute_keys(node: Node) -> list[str]:
    """Return the keys of attributes that a query names, each once."""
    match node:
        case And(terms) | Or(terms):
            return list(dict.fromkeys(key for term in terms for key in attribute_keys(term)))
        case Not(term):
            return attribute_keys(term)
        case AttributeTerm(key):
            return [key]
    return []


def doubt_of(key: str, subject: Subject) -> str:
    """Return the warning that nothing has an attribute of this key."""
    what = {Subject.JOBS: "job", Subject.BATCHES: "batch"}.get(subject, "product")
    near = nearest(key, [*FIELDS[subject], *SYNONYMS])
    hint = f"; did you mean {near}?" if near else ""
    return f"no {what} has an attribute {_shown(key)}{hint}"


def compared_term(subject: Subject, word: Token, operator: Token, value: Token) -> Node:
    """Return the node of `word operator value`."""
    field = SYNONYMS.get(word) or (Field(word) if word in _WORDS else None)
    kind = FIELDS[subject].get(field) if field is not None else None
    if field is None or kind is None:
        return attribute_term(word, operator, value)
    read = _READERS[kind]
    return read(subject, field, _operator(operator, OPERATORS[kind]), value)


_WORDS: Final = frozenset(Field)


def _operator(sign: Token, allowed: Sequence[Operator]) -> Operator:
    operator = Operator("=" if sign == "==" else str(sign))
    if operator not in allowed:
        raise _wrong(sign, f"unexpected operator {operator}, expected one of {' '.join(allowed)}")
    return operator


def _state(subject: Subject, _field: Field, operator: Operator, value: Token) -> Node:
    return StateTerm(operator, _one_of(STATES[subject], "state", value))


def _reason(_subject: Subject, field: Field, operator: Operator, value: Token) -> Node:
    if value == "NULL":
        return MissingTerm(field, operator)
    return ReasonTerm(operator, _one_of(tuple(REASONS), "reason", value))


def _one_of(words: Sequence[str], what: str, value: Token) -> str:
    word = text_of(value)
    if word not in words:
        near = nearest(word, words)
        hint = f"; did you mean {near}?" if near else f", only {' '.join(words)}"
        raise _wrong(value, f"there is no {what} {_shown(word)}{hint}")
    return word


def _signal(_subject: Subject, field: Field, operator: Operator, value: Token) -> Node:
    if value == "NULL":
        return MissingTerm(field, operator)
    text = text_of(value)
    if text.isdecimal() and len(text) <= len("999"):
        return IntegerTerm(field, operator, int(text))
    try:
        return IntegerTerm(
            field, operator, signal.Signals[f"SIG{text.upper().removeprefix('SIG')}"]
        )
    except KeyError:
        raise _unfit(value, Kind.SIGNAL) from None


def _integer(_subject: Subject, field: Field, operator: Operator, value: Token) -> Node:
    text = text_of(value)
    named = _ID[field].fullmatch(text) if field in _ID else None
    if named is None and not _INTEGER.fullmatch(text):
        raise _unfit(value, Kind.INTEGER)
    return IntegerTerm(field, operator, int(named[1] if named else text))


def _integer_or_null(subject: Subject, field: Field, operator: Operator, value: Token) -> Node:
    if value == "NULL" and operator in {Operator.EQ, Operator.NE}:
        return MissingTerm(field, operator)
    return _integer(subject, field, operator, value)


def _amount(_subject: Subject, field: Field, operator: Operator, value: Token) -> Node:
    text = text_of(value)
    if field is Field.COST:
        text = text.removeprefix("$")
    if not _AMOUNT.fullmatch(text) or math.isinf(float(text)):
        raise _unfit(value, Kind.AMOUNT)
    return AmountTerm(field, operator, float(text))


def _time(_subject: Subject, field: Field, operator: Operator, value: Token) -> Node:
    text = text_of(value)
    try:
        if not _TIME.fullmatch(text):
            raise ValueError(text)  # noqa: TRY301 (all that is no time is told alike)
        at = datetime.fromisoformat(text.upper())
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise _wrong(
            value, f"expected date, but found {_shown(text)}; written as 2026-01-31T17:15:25Z"
        ) from None
    return TimeTerm(field, operator, at)


def _text(_subject: Subject, field: Field, operator: Operator, value: Token) -> Node:
    return TextTerm(field, operator, text_of(value))


_READERS: Final[MappingProxyType[Kind, Callable[[Subject, Field, Operator, Token], Node]]] = (
    MappingProxyType(
        {
            Kind.STATE: _state,
            Kind.REASON: _reason,
            Kind.SIGNAL: _signal,
            Kind.INTEGER: _integer,
            Kind.INTEGER_OR_NULL: _integer_or_null,
            Kind.AMOUNT: _amount,
            Kind.TIME: _time,
            Kind.TEXT: _text,
        }
    )
)


def _unfit(value: Token, kind: Kind) -> Wrong:
    return _wrong(value, f"expected {kind.value}, but found {_shown(text_of(value))}")


def _wrong(token: Token, message: str) -> Wrong:
    start = token.start_pos or 0
    return Wrong(start, start + len(token), message)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")  # noqa: PLR2004 (of a line)
