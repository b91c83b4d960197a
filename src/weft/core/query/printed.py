"""From tree to text, on one line. Reading it gives the same tree."""

import re
from typing import Final

from weft.core.query import tree
from weft.core.query.fields import SYNONYMS
from weft.core.query.terms import KEYWORDS

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:+-]+")
_WORDS: Final = frozenset(tree.Field) | SYNONYMS.keys()


def print_query(node: tree.Node) -> str:
    """Return the text of a tree. Its terms number at most `TERMS_MAX`, so it is not deep."""
    match node:
        case tree.And(terms):
            return " and ".join(_inner(term) for term in terms)
        case tree.Or(terms):
            return " or ".join(_inner(term) for term in terms)
        case tree.Not(term):
            return f"not {_inner(term)}"
        case _:
            return _term(node)


def _inner(node: tree.Node) -> str:
    return f"({print_query(node)})" if isinstance(node, tree.And | tree.Or) else print_query(node)


def _term(node: tree.Node) -> str:
    match node:
        case tree.StateTerm(operator, word):
            return f"state {operator} {word}"
        case tree.ReasonTerm(operator, word):
            return f"reason {operator} {word}"
        case tree.MissingTerm(field, operator):
            return f"{field} {operator} NULL"
        case tree.IntegerTerm(field, operator, value) | tree.AmountTerm(field, operator, value):
            return f"{field} {operator} {value!r}"
        case tree.TimeTerm(field, operator, at):
            return f"{field} {operator} {at.isoformat().replace('+00:00', 'Z')}"
        case tree.TextTerm(field, operator, text):
            return f"{field} {operator} {_quoted(text)}"
        case tree.AttributeTerm(key, operator, text):
            return f"{_key(key)} {operator} {_quoted(text)}"
        case tree.DoorTerm(condition, values):
            return condition.format(*map(repr, values))
        case tree.AnyTerm(tree.Operator.EQ, text):
            return _in_quotes(text)
        case tree.AnyTerm(_, text):
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
