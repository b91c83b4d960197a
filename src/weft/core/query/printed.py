"""From tree to text, on one line; reading it gives the same tree."""

import re
from datetime import datetime
from typing import Final

from weft.core.query.fields import SYNONYMS
from weft.core.query.terms import KEYWORDS
from weft.core.query.tree import (
    AmountTerm,
    And,
    AnyTerm,
    AttributeTerm,
    DoorTerm,
    Field,
    IntegerTerm,
    MissingTerm,
    Node,
    Not,
    Operator,
    Or,
    ReasonTerm,
    StateTerm,
    TextTerm,
    TimeTerm,
)

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:+-]+")
_WORDS: Final = frozenset(Field) | SYNONYMS.keys()


def print_query(node: Node) -> str:
    """Return the text of a tree. Its terms number at most `TERMS_MAX`, so it is not deep."""
    match node:
        case And(terms):
            return " and ".join(_inner(term) for term in terms)
        case Or(terms):
            return " or ".join(_inner(term) for term in terms)
        case Not(term):
            return f"not {_inner(term)}"
        case _:
            return _term(node)


def _inner(node: Node) -> str:
    return f"({print_query(node)})" if isinstance(node, And | Or) else print_query(node)


def _term(node: Node) -> str:
    match node:
        case StateTerm(operator, word):
            return f"state {operator} {word}"
        case ReasonTerm(operator, word):
            return f"reason {operator} {word}"
        case MissingTerm(field, operator):
            return f"{field} {operator} NULL"
        case IntegerTerm(field, operator, value) | AmountTerm(field, operator, value):
            return f"{field} {operator} {value!r}"
        case TimeTerm(field, operator, at):
            return f"{field} {operator} {_moment(at)}"
        case TextTerm(field, operator, text):
            return f"{field} {operator} {_quoted(text)}"
        case AttributeTerm(key, operator, text):
            return f"{_key(key)} {operator} {_quoted(text)}"
        case DoorTerm(condition, values):
            return condition.format(*map(repr, values))
        case AnyTerm(Operator.EQ, text):
            return _in_quotes(text)
        case AnyTerm(_, text):
            return text
    raise AssertionError(node)


def _quoted(text: str) -> str:
    """Return a value as it is, if nothing in it could be misread, else in quotes."""
    return text if _PLAIN.fullmatch(text) else _in_quotes(text)


def _in_quotes(text: str) -> str:
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))


def _key(text: str) -> str:
    is_word = text in _WORDS or text.lower() in KEYWORDS
    return _in_quotes(text) if is_word else _quoted(text)


def _moment(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
