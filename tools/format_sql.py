"""Lay out files of SQL: one statement a line, one clause a line where a statement needs several.

    format_sql.py [--check] [FILE …]    without a FILE, all of weft's

Only white space changes, and where comments stand: a file whose tokens, or words of comments,
would differ is refused. A statement is read as a tree of brackets, and written as parts that stand
on one line if they fit there, else break, the outermost first; PL/pgSQL is a frame around such
statements. Within a line the spaces stay as they were written.
"""

import re
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDERS: Final = ("src/weft/sql", "packages/*/src/*/sql", "benches/sql")
WIDTH: Final = 110
COLUMNS: Final = 8
"""A list of more items than this, all of them short, fills its lines; others have a line each."""
SHORT: Final = 32
_TOKEN: Final = re.compile(
    r"(\s*)(--[^\n]*|/\*.*?\*/|#\w+ \w+|[eE]'(?:\\.|''|[^'\\])*'|'(?:[^']|'')*'|\"[^\"]*\""
    r"|\$(?:[A-Za-z_]\w*)?\$|\$\d+|\d+(?:\.\d+)?(?!\w)|\w+|::|\.\."
    r"|(?:(?!--|/\*)[-+*/<>=~!@#%^&|`?:])+|[.,;()\[\]])",
    re.DOTALL,
)
_LABEL: Final = re.compile(r"[A-Z`][`\w, ]*: ")
_CLOSING: Final = {"(": ")", "[": "]", "CASE": "END"}
_FACT: Final = re.compile(
    r" {3,}(?=\S)|(?<=\.) +(?=(?:Safe to repeat|Locks|Plan|For|Returns|Owner|Granted to): )"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_QUERIES: Final = _words("SELECT PERFORM WITH INSERT UPDATE DELETE VALUES")
_CLAUSES: Final = _words(
    "SELECT PERFORM FROM WHERE GROUP HAVING ORDER LIMIT OFFSET UNION EXCEPT INTERSECT INTO VALUES"
    " SET RETURNING WINDOW USING"
)
_JOINS: Final = _words("LEFT RIGHT FULL INNER CROSS JOIN")
_LISTS: Final = re.compile(
    r"SELECT(?: DISTINCT(?! ON))?|PERFORM|GROUP BY|ORDER BY|SET|RETURNING|INTO(?: STRICT)?|VALUES"
    r"|WITH(?: RECURSIVE)?"
)
_BEFORE: Final = _words(
    "|| + - * / % @> && IS ON WHERE USING WITH FOR TO EXECUTE RETURNS LANGUAGE REFERENCES CHECK"
    " FILTER OVER WHEN THEN GENERATED OPTIONS"
)
"""A line breaks rather before these than elsewhere."""

_NEXT_LINE: Final = ("\n",)
_TIGHT: Final = {"::", ".", ".."}
_OBJECTS: Final = {"jsonb_build_object", "json_build_object"}
_PARTS: Final = {("DISTINCT", "FROM"), ("DELETE", "FROM"), ("INSERT", "INTO"), ("BY", "USING")}
_OPENS: Final = {"IF": "THEN", "ELSIF": "THEN", "WHEN": "THEN"} | dict.fromkeys(
    ("FOR", "FOREACH", "WHILE", "LOOP"), "LOOP"
)
"""What begins a header in PL/pgSQL, and how it ends."""


@dataclass
class Token:
    """A token, what stands before it, and the comments above and behind it."""

    text: str
    space: str = " "
    above: list[tuple[str, bool]] = field(default_factory=list)
    """Each with whether a blank line is before it."""
    behind: list[str] = field(default_factory=list)
    is_on: bool = False
    """Whether it goes on with the text above it: those are one text if a line ends between."""
    inner: list["Token"] | None = None
    """What is in these brackets, this CASE or this body."""
    close: "Token | None" = None

    @property
    def is_blank_before(self) -> bool:
        return self.space.count("\n") > 1


@dataclass(frozen=True)
class Break:
    """Where a line may end; `flat` stands there if it does not."""

    flat: str = " "


class Doc:
    """Parts of a statement. `group`: breaks are lines unless all fits; `fill`: those that must be;
    `hang`: a group whose lines are indented from the line on which it begins.
    """

    def __init__(self, kind: str, *parts: "Part", nest: int = 0, broken: bool = False) -> None:
        self.kind, self.parts, self.nest = kind, parts, nest
        self.is_broken: bool = broken or any(
            isinstance(part, list) or (isinstance(part, Doc) and part.is_broken) for part in parts
        )

    @cached_property
    def flat(self) -> str:
        """Return the text on one line."""
        return "".join(
            part if isinstance(part, str) else part.flat
            for part in self.parts
            if not isinstance(part, list)
        )


Part = str | Break | Doc | list[str]
"""A list: comments, on lines of their own; if it begins with "", behind what is on the line."""


def read(source: str, at: int = 0) -> list[Token]:
    """Return the tokens of a source as a tree; the last is empty, and has the last comments."""
    flat, above = list[Token](), list[tuple[str, bool]]()
    while match := _TOKEN.match(source, at):
        space, text = match.groups()
        at = match.end()
        if text.startswith(("--", "/*")):
            if flat and not above and "\n" not in space:
                flat[-1].behind.append(text.rstrip())
            else:
                above.append((text.rstrip(), space.count("\n") > 1))
            continue
        token = Token(text, space, above)
        is_text = flat and flat[-1].text.endswith("'") and text.startswith("'")
        token.is_on = bool(is_text and ("\n" in space or above))
        if text.startswith("$") and text.endswith("$"):
            end = source.index(text, at)
            if flat and flat[-1].text in {"AS", "DO"}:
                token.inner, token.close = read(source[at:end]), Token(text)
            else:
                token.text += source[at:end] + text
            at = end + len(text)
        flat.append(token)
        above = []
    assert not source[at:].strip(), f"no token of SQL: {source[at : at + 40]!r}"
    return _tree(iter([*flat, Token("", above=above)]), "")[0]


def _tree(tokens: Iterator[Token], end: str) -> tuple[list[Token], Token]:
    found = list[Token]()
    for token in tokens:
        if token.text == end:
            return [*found, *([token] if not end else [])], token
        if token.text in _CLOSING:
            token.inner, token.close = _tree(tokens, _CLOSING[token.text])
        found.append(token)
    raise AssertionError(f"`{end}` is missing")


def facts_of(tokens: Sequence[Token]) -> tuple[list[str], Counter[str]]:
    """Return what must not change: the tokens in order, and the words of the comments."""
    texts, comments = list[str](), list[str]()

    def walk(tokens: Iterable[Token]) -> None:
        for token in tokens:
            texts.extend(["\n", token.text] if token.is_on else [token.text])
            comments.extend(text for text, _ in token.above)
            comments.extend(token.behind)
            walk(token.inner or ())
            walk([token.close] if token.close else [])

    walk(tokens)
    words = (word for one in comments for word in one.lstrip("-").split())
    return [text for text in texts if text], Counter(words)


# What a statement looks like.


def _joined(tokens: Sequence[Token], between: Part = " ", *, style: str = "") -> Iterator[Part]:
    """Yield the parts of tokens, with what is between those that had a space."""
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text if at else ""
        if token.is_on:
            yield list(_NEXT_LINE)
        elif (
            at
            and token.space
            and not {before, token.text} & _TIGHT
            and token.text not in {",", ";"}
        ):
            yield between
        if token.above:
            yield [text for text, _ in token.above]
        yield _bracket(token, before, style) if token.close else token.text
        if token.behind and not token.close:
            yield ["", *token.behind]


def _bracket(token: Token, name: str, style: str) -> Doc:
    """Return brackets with what is in them; `style`: as `_list`."""
    assert token.close
    assert token.inner is not None
    behind: list[Part] = [["", *token.behind]] if token.behind else []
    above: list[Part] = [[text for text, _ in token.close.above]] if token.close.above else []
    after: list[Part] = [["", *token.close.behind]] if token.close.behind else []
    if token.text == "CASE":
        first, *others = _split(token.inner, lambda one, _: one.text in {"WHEN", "ELSE"})
        head = (" ", _expression(first)) if first else ()
        lines = (part for one in others for part in (Break(), _branch(one)))
        inside = Doc("cat", *lines, *above, nest=4)
        return Doc("hang", "CASE", *head, *behind, inside, Break(), "END", *after)
    if not token.inner and not above:
        return Doc("cat", token.text, *behind, token.close.text, *after)
    is_query = token.inner and token.inner[0].text in _QUERIES
    content = _query(token.inner) if is_query else _list(_items(token.inner), name, style)
    inside = Doc("cat", Break(""), content, *above, nest=4)
    return Doc("hang", token.text, *behind, inside, Break(""), token.close.text, *after)


def _branch(tokens: Sequence[Token]) -> Doc:
    """Return a line of a CASE."""
    when, *then = _split(tokens, lambda one, _: one.text == "THEN")
    result = (Doc("cat", Break(), _expression(one), nest=4) for one in then)
    return Doc("group", _expression(when), *result)


def _split(tokens: Sequence[Token], begins: Callable[[Token, int], bool]) -> list[list[Token]]:
    """Return the tokens before the first that begins a part, and the parts."""
    parts = [list[Token]()]
    for at, token in enumerate(tokens):
        if begins(token, at):
            parts.append([])
        parts[-1].append(token)
    return parts


def _items(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the items of a list, each with its comma."""
    return [
        part
        for part in _split(tokens, lambda _, at: at > 0 and tokens[at - 1].text == ",")
        if part
    ]


def _list(items: Sequence[Sequence[Token]], name: str = "", style: str = "") -> Doc:
    """Return a list on one line, filled lines, or a line an item; of an object, a line a pair.
    `style`: "rows" is not filled, "table" always has a line an item.
    """
    if name in _OBJECTS and len(items) % 2 == 0:
        docs = [
            Doc("cat", _expression(items[at]), " ", _expression(items[at + 1]))
            for at in range(0, len(items), 2)
        ]
    else:
        docs = [_expression(one) for one in items]
    if len(docs) == 1:
        return docs[0]
    if len(docs) > COLUMNS and not style:
        docs = list(_runs(docs))
    return Doc("group", *_broken(docs), broken=style == "table")


def _runs(docs: Sequence[Doc]) -> Iterator[Doc]:
    """Yield items, with those together of which many in a row are short."""
    for is_short, run in groupby(docs, _is_short):
        together = list(run)
        if is_short and len(together) >= COLUMNS // 2:
            yield Doc("fill", *_broken(together))
        else:
            yield from together


def _is_short(doc: Doc) -> bool:
    return not doc.is_broken and len(doc.flat) <= SHORT and " AS " not in doc.flat


def _broken(docs: Iterable["Part"]) -> list[Part]:
    """Return parts with a break between them."""
    return [part for one in docs for part in (Break(), one)][1:]


def _expression(tokens: Sequence[Token]) -> Doc:
    """Return an expression, which breaks at OR, else at AND, else before operators."""
    for word in ("OR", "AND") if tokens[0].text != "CREATE" else ():

        def joins(one: Token, at: int, word: str = word) -> bool:
            return at > 0 and one.text == word and not _is_between(tokens, at)

        parts = _split(tokens, joins)
        if len(parts) > 1:
            first, *others = (_expression(one) for one in parts)
            lines = (part for one in others for part in (Break(), one))
            return Doc("group", first, Doc("cat", *lines, nest=4))
    pieces = [
        one
        for one in _split(
            tokens, lambda one, at: at > 0 and one.text in _BEFORE and bool(one.space)
        )
        if one
    ]
    docs = [Doc("fill", *_fillable(one), nest=4) for one in pieces]
    if len(docs) == 1:
        return docs[0]
    return Doc("fill", *[part for one in docs for part in (Break(), one)][1:], nest=4)


def _fillable(tokens: Sequence[Token], style: str = "") -> Iterator[Part]:
    """Yield what stands together, with breaks between."""
    together = list[Part]()
    for part in _joined(tokens, Break(), style=style):
        if isinstance(part, Break):
            yield Doc("cat", *together)
            yield part
            together = []
        else:
            together.append(part)
    yield Doc("cat", *together)


def _is_between(tokens: Sequence[Token], at: int) -> bool:
    """Say whether an AND is that of BETWEEN."""
    words = [one.text for one in tokens[:at] if one.text in {"BETWEEN", "AND"}]
    return bool(words) and words[-1] == "BETWEEN"


def _begins_clause(tokens: Sequence[Token], at: int) -> bool:
    """Say whether a clause of a query begins here."""
    word, before = tokens[at].text, tokens[at - 1].text if at else ""
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    if word in {"INSERT", "DELETE", "UPDATE", "WITH"}:
        return at == 0 or (
            word != "WITH"
            and before not in {"FOR", "KEY", "DO", "OR"}
            and tokens[0].text == "WITH"
        )
    return (
        (word in _CLAUSES and (before, word) not in _PARTS)
        or (word in _JOINS and before not in _JOINS and before != "OUTER" and after != "(")
        or (word, after)
        in {("ON", "CONFLICT"), ("FOR", "UPDATE"), ("FOR", "NO"), ("FOR", "KEY"), ("FOR", "SHARE")}
    )


def _query(tokens: Sequence[Token]) -> Doc:
    """Return a query with a clause a line, unless all fits on one."""
    clauses = [one for one in _split(tokens, lambda _, at: _begins_clause(tokens, at)) if one]
    parts = [part for one in clauses for part in (Break(), _clause(one))][1:]
    return Doc("group", *parts, broken=tokens[0].text == "WITH")


def _clause(tokens: Sequence[Token]) -> Doc:
    """Return a clause: a list below its name, a chain of conditions, or an expression."""
    words = " ".join(one.text for one in tokens[:3])
    match = _LISTS.match(words)
    n = len(match[0].split()) if match else 0
    items = _items(tokens[n:])
    if tokens[0].text == "WITH":
        lines = (part for one in items[1:] for part in (Break(), Doc("cat", *_joined(one))))
        return Doc("group", Doc("cat", *_joined([*tokens[:n], *items[0]])), *lines, broken=True)
    if n and len(items) > 1:
        return Doc("group", *_joined(tokens[:n]), Doc("cat", Break(), _list(items), nest=4))
    if tokens[0].text == "FROM" and len(items := _items(tokens)) > 1:
        first, *others = (_expression(one) for one in items)
        return Doc(
            "group",
            first,
            Doc("cat", *(part for one in others for part in (Break(), one)), nest=4),
        )
    return _expression(tokens)


def _statement(tokens: Sequence[Token]) -> Doc:
    """Return a statement of SQL or PL/pgSQL, or a header of the latter."""
    words = [one.text for one in tokens]
    if words[0] in _QUERIES:
        return _query(tokens)
    end = len(tokens) - (words[-1] in {"THEN", "LOOP"})
    if words[0] in _OPENS and 0 < end < len(tokens):
        is_loop = "IN" in words and words[words.index("IN") + 1] in _QUERIES
        is_chain = not {"AND", "OR"}.isdisjoint(words) or is_loop
        at = words.index("IN") + 1 if is_loop else end
        query = [Doc("cat", Break(), _query(tokens[at:end]), nest=4)] if is_loop else []
        last = (Break() if is_chain else " ", *_joined(tokens[end:]))
        return Doc("group", _expression(tokens[:at]), *query, *last)
    is_view = words[0] == "CREATE" and "VIEW" in words[:4]
    if is_view or words[:2] == ["RETURN", "QUERY"]:
        at = words.index("AS") + 1 if is_view else 2
        if words[at] in _QUERIES:
            return Doc(
                "group", *_joined(tokens[:at]), Break(), _query(tokens[at:]), broken=is_view
            )
    if words[0] == "CREATE" and "TABLE" in words[:3] and "(" in words:
        at = words.index("(") + 1
        rest = ("" if words[at] == ";" else " ", _expression(tokens[at:]))
        return Doc("cat", *_joined(tokens[:at], style="table"), *rest)
    if words[0] == "CREATE" and "FUNCTION" in words[:4]:
        parts = _split(tokens, lambda one, _: one.text in {"RETURNS", "LANGUAGE"})
        docs = [Doc("fill", *_fillable(one, "rows"), nest=4) for one in parts]
        return Doc("fill", *[part for one in docs for part in (Break(), one)][1:])
    if words[0] in {"RAISE", "EXECUTE", "GRANT", "ALTER"}:
        first, *others = (
            _expression(one)
            for one in _split(
                tokens, lambda one, at: one.text == "USING" or (at > 0 and words[at - 1] == ",")
            )
        )
        return Doc(
            "group", first, *([Doc("cat", Break(), *_broken(others), nest=4)] if others else [])
        )
    return _expression(tokens)


# How it is written.


Rest = tuple["Part", "Rest"] | None


class Lines:
    """The lines of a file."""

    def __init__(self) -> None:
        self.lines = list[str]()
        self.row = 0
        """Where what stood on one line of the source began."""
        self._line, self._behind = "", list[str]()

    def write(self, doc: Part, level: int, *, tail: str = "", behind: Sequence[str] = ()) -> None:
        """Write a statement on lines of its own."""
        self._line = " " * 4 * level
        self._print(doc, 4 * level, (tail, None))
        self._line += tail
        self._behind += behind
        self._end(0)

    def comment(
        self, texts: Sequence[str], indent: int, *, at: int | None = None, is_head: bool = False
    ) -> None:
        """Write comments on lines of their own, wrapped."""
        at = len(self.lines) if at is None else at
        more = wrapped(texts, WIDTH - indent, is_head=is_head)
        self.lines[at:at] = [" " * indent + one for one in more]

    def _end(self, indent: int) -> None:
        line, behind = self._line.rstrip(), "  ".join(["", *self._behind])
        if self._behind and len(line + behind) > WIDTH:
            self.comment(self._behind, len(line) - len(line.lstrip()))
            behind = ""
        self.lines += (line + behind).split("\n")
        self._line, self._behind = " " * indent, []

    def _print(self, part: Part, indent: int, rest: Rest) -> None:
        if isinstance(part, str):
            self._line += part
        elif isinstance(part, Break):
            self._end(indent)
        elif isinstance(part, list):
            if part == [*_NEXT_LINE]:
                self._end(indent)
                return
            if not part[0]:
                self._behind += part[1:]
                return
            if self._line.strip():
                self._end(indent)
            self.comment(part, len(self._line))
        elif part.kind == "cat":
            self._all(part.parts, indent + part.nest, rest)
        elif not part.is_broken and self._fits(part.flat, rest):
            self._line += part.flat
        elif part.kind == "fill":
            self._fill(part, indent + part.nest, rest)
        else:
            if part.kind == "hang":
                line = self._line.rsplit("\n", 1)[-1]
                indent = len(line) - len(line.lstrip())
            self._all(part.parts, indent, rest)

    def _all(self, parts: Sequence[Part], indent: int, rest: Rest) -> None:
        for at, part in enumerate(parts):
            after = rest
            for one in reversed(parts[at + 1 :]):
                after = (one, after)
            self._print(part, indent, after)

    def _fill(self, doc: Doc, indent: int, rest: Rest) -> None:
        for at in range(0, len(doc.parts), 2):
            part, after = doc.parts[at], rest
            for one in reversed(doc.parts[at + 1 :]):
                after = (one, after)
            assert not isinstance(part, Break | list)
            if at:
                flat = part if isinstance(part, str) else part.flat
                is_broken = isinstance(part, Doc) and part.is_broken
                head = self._fits(" " * (1 + _lead((part, None))[0]), None)
                below = not is_broken and indent + len(flat) + _lead(after)[0] <= WIDTH
                here = not self._behind and (
                    (not is_broken and self._fits(" " + flat, after))
                    or (head and (not below or _is_call(part)))
                )
                if here:
                    self._line += " "
                else:
                    self._end(indent)
            self._print(part, indent, after)

    def _fits(self, text: str, rest: Rest) -> bool:
        line = self._line.rsplit("\n", 1)[-1]
        return len(line) + len(text) + _lead(rest)[0] <= WIDTH


def _is_call(part: Part) -> bool:
    """Say whether a part ends with brackets, in which its lines break."""
    return isinstance(part, Doc) and (
        part.kind == "hang"
        or (
            part.kind == "cat"
            and any(_is_call(one) for one in part.parts[-2:])
            and part.parts[-1] != ","
        )
    )


def _lead(rest: Rest) -> tuple[int, bool]:
    """Return the width of what comes before the next place where a line may end."""
    width = 0
    while rest:
        part, rest = rest
        if isinstance(part, str):
            width += len(part)
        elif isinstance(part, Break) or (isinstance(part, list) and part[0]):
            return width, True
        elif isinstance(part, Doc):
            inner: Rest = None
            for one in reversed(part.parts):
                inner = (one, inner)
            more, stops = _lead(inner)
            width += more
            if stops:
                return width, True
    return width, False


def wrapped(texts: Sequence[str], width: int, *, is_head: bool) -> list[str]:
    """Return comments in lines of this width; in a head a fact a line, with those that go on
    indented. What is too long goes on in the next line, if that goes on with it as it was.
    """
    if is_head:
        texts = [fact for text in texts for fact in _facts(text)]
    lines, left, left_mark, before = list[str](), "", "", ""
    for text in texts:
        mark = text[: len(text) - len(text.lstrip("- "))]
        words = text[len(mark) :]
        if left:
            is_new = is_head or before.endswith((".", ":")) or _LABEL.match(words)
            if mark == "-- " and is_new:
                lines.append(left_mark + left)
            else:
                words = f"{left} {words}"
        before, left = text, ""
        if len(mark) + len(words) > width and mark:
            left_mark = "--   " if is_head else mark
            first, *more = _wrap(words, width - len(mark))
            lines.append(mark + first)
            *full, left = _wrap(" ".join(more), width - len(left_mark)) or [""]
            lines += [left_mark + one for one in full]
        else:
            lines.append(mark + words)
    return [*lines, *([left_mark + left] if left else [])]


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _facts(text: str) -> list[str]:
    mark = text[: len(text) - len(text.lstrip("- "))]
    first, *others = _FACT.split(text[len(mark) :])
    return [mark + first, *(f"-- {one}" for one in others)]


def _ends(statement: Sequence[Token], context: str) -> bool:
    """Say whether a statement or a header of PL/pgSQL ends with its last token."""
    first, last = statement[0].text, statement[-1].text
    if first in {"DECLARE", "BEGIN", "EXCEPTION", "ELSE"} or first.startswith("#"):
        return True
    if first in _OPENS and context != "DECLARE":
        return last == _OPENS[first]
    return last == (">>" if first == "<<" else ";")


def _block(lines: Lines, tokens: Sequence[Token], level: int) -> None:
    """Write the frame of PL/pgSQL and the statements in it."""
    stack, statement = [(level, "")], list[Token]()
    for at, token in enumerate(tokens):
        statement.append(token)
        if not _ends(statement, stack[-1][1]) and at + 1 < len(tokens):
            continue
        word = statement[0].text
        if word in {"ELSE", "ELSIF", "EXCEPTION", "END"} or (word, stack[-1][1]) in {
            ("BEGIN", "DECLARE"),
            ("WHEN", "WHEN"),
        }:
            _, context = stack.pop()
            if context == "WHEN" and word == "END":
                stack.pop()
        _place(lines, statement, stack[-1][0])
        if word in {"DECLARE", "BEGIN", "ELSE", "EXCEPTION", *_OPENS}:
            stack.append((stack[-1][0] + 1, word))
        if word in {"DECLARE", "BEGIN"}:
            lines.row = len(lines.lines)
        statement = []


def _statements(lines: Lines, tokens: Sequence[Token], level: int) -> None:
    """Write statements of SQL."""
    for one in _split(tokens, lambda _, at: at > 0 and tokens[at - 1].text == ";"):
        _place(lines, one, level)


def _place(lines: Lines, statement: Sequence[Token], level: int) -> None:
    """Write a statement with its comments, behind a blank line if it had one."""
    first, last = statement[0], statement[-1]
    if statement[-1].text == "" and len(statement) > 1:
        _place(lines, statement[:-1], level)
        _place(lines, statement[-1:], level)
        return
    is_head = (
        not lines.lines
        and not first.is_blank_before
        and not any(blank for _, blank in first.above)
    )
    comments = list[str]()
    for text, blank in [*first.above, ("", first.is_blank_before)]:
        if (blank or not text) and comments:
            lines.comment(comments, 4 * level, is_head=is_head)
            comments = []
        if blank and lines.lines and lines.lines[-1]:
            lines.lines.append("")
        comments.append(text)
    starts_row = "\n" in first.space or bool(first.above) or not lines.lines
    first.above = []
    if not first.text:
        return
    if starts_row:
        lines.row = len(lines.lines)
    elif last.behind and last.close is None:
        lines.comment(last.behind, 4 * level, at=lines.row)
        last.behind = []
    body = next((at for at, one in enumerate(statement) if one.text == "$$"), None)
    if body is None:
        behind = last.behind if last.close is None else []
        last.behind = [] if last.close is None else last.behind
        lines.write(_statement(statement), level, behind=behind)
    else:
        _function(lines, statement, body, level)


def _function(lines: Lines, statement: Sequence[Token], at: int, level: int) -> None:
    """Write a statement with a body."""
    head, body, rest = (
        _statement(statement[:at]),
        statement[at].inner,
        "".join(map(str, _joined(statement[at + 1 :]))),
    )
    assert body
    rest = f" {rest}" if rest != ";" else rest
    if body[0].text in {"DECLARE", "BEGIN", "<<"} or body[0].text.startswith("#"):
        lines.write(head, level, tail=" $$")
        _block(lines, body[:-1], level)
        lines.lines[-1] += f" $${rest}"
        return
    only = _query(body[:-1]) if body[0].text in _QUERIES else _expression(body[:-1])
    line = f"{head.flat} $$ {only.flat} $${rest}"
    if (
        not (head.is_broken or only.is_broken)
        and len(line) <= WIDTH
        and ";" not in {one.text for one in body}
    ):
        lines.write(line, level)
        return
    lines.write(head, level, tail=" $$")
    _statements(lines, body, level + 1)
    lines.write(f"$${rest}", level)


def formatted(source: str) -> str:
    """Return the text in weft's layout. Raise `AssertionError` if it would say something else."""
    for _ in range(4):  # a comment that moves may let another one stay
        lines = Lines()
        _statements(lines, read(source), 0)
        text = "\n".join(lines.lines) + "\n"
        assert facts_of(read(text)) == facts_of(read(source)), "the tokens would differ"
        if text == source:
            return text
        source = text
    raise AssertionError("the layout changes each time")


def files() -> list[Path]:
    """Return all files of weft's SQL."""
    return sorted(
        path for folder in FOLDERS for top in ROOT.glob(folder) for path in top.rglob("*.sql")
    )


def main(arguments: Sequence[str]) -> int:
    """Write the files, or say which would change; return the exit code."""
    is_check = "--check" in arguments
    stale = 0
    for path in [Path(one) for one in arguments if one != "--check"] or files():
        source = path.read_text()
        try:
            text = formatted(source)
        except AssertionError as error:
            sys.stderr.write(f"{path}: {error}\n")
            stale += 1
            continue
        if text != source:
            stale += is_check
            if is_check:
                sys.stderr.write(f"{path} is not formatted\n")
            else:
                path.write_text(text)
    if is_check and stale:
        sys.stderr.write("Run `make fmt`.\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
