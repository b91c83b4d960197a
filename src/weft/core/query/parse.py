"""From text to tree. Pure; any text gives a tree or `BadQuery`, in time linear to its length."""

import re
from functools import cache
from importlib.resources import files
from typing import Final, cast

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from weft.core.query.terms import Wrong, any_term, attribute_term, bad_query, compared_term
from weft.core.query.tree import EVERYTHING, Node, Operator, Subject, all_of, any_of, negated

CHARS_MAX: Final = 8192
TERMS_MAX: Final = 200
DEPTH_MAX: Final = 32
"""Parentheses, and `not` before `not`."""
_IMPOSSIBLE: Final = re.compile("[\0\ud800-\udfff]")
"""A character that PostgreSQL cannot store in a text."""


def parse_query(text: str, subject: Subject, *, chars_max: int = CHARS_MAX) -> Node:
    """Return the tree of a query; of an empty one, `EVERYTHING`. Raise `BadQuery`."""
    try:
        _check_text(text, chars_max)
        return _parse(text.rstrip(), subject) if text.strip() else EVERYTHING
    except Wrong as wrong:
        raise bad_query(text, wrong) from None


def _check_text(text: str, chars_max: int) -> None:
    if len(text) > chars_max:
        raise Wrong(
            chars_max, chars_max, f"{len(text)} characters, at most {chars_max} (query_chars_max)"
        )
    if match := _IMPOSSIBLE.search(text):
        raise Wrong(*match.span(), "no text can contain this character")


def _parse(text: str, subject: Subject) -> Node:
    """Feed the parser token by token, so that depth and size are bounded while it goes."""
    # The grammar has no line break before the first line; spaces keep the columns right.
    start = len(text) - len(text.lstrip())
    parsing = _parser(subject).parse_interactive(" " * start + text[start:])
    opened: list[Token] = []
    negations = terms = 0
    previous = ""
    try:
        for token in parsing.iter_parse():
            if token.type == "_OPEN":
                opened.append(token)
            elif token.type == "_CLOSE" and opened:
                opened.pop()
            negations = negations + 1 if token.type == "_NOT" else 0
            terms += token.type == "WORD" or (token.type == "STRING" and previous != "OPERATOR")
            previous = token.type
            if len(opened) + negations > DEPTH_MAX:
                raise _at(token, f"this is more than {DEPTH_MAX} levels deep")
            if terms > TERMS_MAX:
                raise _at(token, f"the query has more than {TERMS_MAX} terms")
        return cast("Node", parsing.feed_eof())  # type: ignore[no-untyped-call]  # lark's
    except UnexpectedCharacters as error:
        raise _explain_character(text, error) from None
    except UnexpectedToken as error:
        raise _explain_token(text, error, opened) from None


def _explain_character(text: str, error: UnexpectedCharacters) -> Wrong:
    start: int = error.pos_in_stream or 0
    if text[start] == '"':
        return Wrong(start, start + 1, "this quote is not closed")
    return Wrong(start, start + 1, f"{text[start]!r} cannot stand here")


def _explain_token(text: str, error: UnexpectedToken, opened: list[Token]) -> Wrong:
    """Say what there is, and what was expected instead."""
    token = error.token
    found = str(token).strip()
    expected = _expected(set(error.expected))
    if token.type == "_CLOSE" and not opened:
        return _at(token, "this parenthesis was not opened")
    if token.type != "$END":
        shown = repr(found) if found else "the end of the line"
        return _at(token, f"expected {expected}, but found {shown[:60]}")
    if opened and "_CLOSE" in error.expected:
        return _at(opened[-1], "this parenthesis is not closed")
    return Wrong(len(text), len(text) + 1, f"expected {expected}, but here the query ends")


def _expected(terminals: set[str]) -> str:
    if "VALUE" in terminals:
        return "a value"
    if "WORD" in terminals:
        return 'a term such as state = failed, "word" or word'
    if "OPERATOR" in terminals:
        return "an operator, and, or, or a new line"
    return "and, or, or a new line; put values with blanks or parentheses in quotes"


def _at(token: Token, message: str) -> Wrong:
    """Point at a token without the blanks that it took with it."""
    text = str(token)
    stripped = text.strip()
    start = (token.start_pos or 0) + (text.index(stripped) if stripped else 0)
    return Wrong(start, start + len(stripped), message)


@v_args(inline=True)
class _Builder(Transformer[Token, Node]):
    """Makes nodes while the parser reduces, so that no tree is ever walked."""

    def __init__(self, subject: Subject) -> None:
        super().__init__()
        self._subject = subject

    def lines(self, *nodes: Node) -> Node:
        return all_of(nodes)

    all_of = lines

    def any_of(self, *nodes: Node) -> Node:
        return any_of(nodes)

    def negated(self, node: Node) -> Node:
        return negated(node)

    def compared(self, word: Token, operator: Token, value: Token) -> Node:
        return compared_term(self._subject, word, operator, value)

    def attribute(self, key: Token, operator: Token, value: Token) -> Node:
        return attribute_term(key, operator, value)

    def holds(self, word: Token) -> Node:
        return any_term(self._subject, Operator.CONTAINS, word)

    def equals(self, word: Token) -> Node:
        return any_term(self._subject, Operator.EQ, word)


@cache
def _parser(subject: Subject) -> Lark:
    grammar = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar, start="lines", parser="lalr", lexer="contextual", transformer=_Builder(subject)
    )
