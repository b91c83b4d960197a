"""Guards: CEL expressions that say whether a queue takes a job.

The library evaluates them (ADR 28). What it does not do is done here: names are compared with the
table of attributes, so that a typing error is found when the guard is saved, and work is bounded
before anything is evaluated. It is evaluated in a process that may be killed (`ports.evaluation`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from weft.core.queues.attributes import BY_PATH, MAP, PARENTS, Path, fields_below, meant_by
from weft.core.queues.guard_words import Refusal, failure_of, refusal_of
from weft.core.text.patterns import WrongPattern, check_pattern

if TYPE_CHECKING:
    import cel

CHARS_MAX: Final = 1000
LOOPS_MAX: Final = 2
"""Loops inside each other."""
COMMAS_MAX: Final = 64
"""Commas in a guard with loops inside each other: its lists have few elements, so that the loops
take some thousand steps and no more than milliseconds.
"""
MATCHES_MAX: Final = 10
"""Each compiles its pattern: up to 3 ms."""
MAPS_MAX: Final = 1
"""Each `map` may make a list as many times larger as it names its variable. So does `+` in a loop,
which is refused.
"""
_MACROS: Final = frozenset({"all", "exists", "exists_one", "map", "filter"})
_FUNCTIONS: Final = frozenset({"has", "size", "int", "uint", "double", "string", "bool"})
_METHODS: Final = frozenset({"size", "contains", "startsWith", "endsWith", "matches", *_MACROS})
_WORDS: Final = frozenset({"true", "false", "null", "in"})
_TOKEN: Final = re.compile(
    r"""(?P<text>[bB]?[rR](?:'{3}.*?'{3}|"{3}.*?"{3}|'[^'\n]*'|"[^"\n]*")
    |[bB]?(?:'{3}(?:\\.|[^\\])*?'{3}|"{3}(?:\\.|[^\\])*?"{3}
        |'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"))
    |(?P<comment>//[^\n]*)
    |(?P<number>\d[\w.]*(?:(?<=[eE])[+-]\d+)?)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign>\S)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED: Final = re.compile(
    r"""(?P<raw>[rR]?)(?P<quote>'{3}|"{3}|'|")(?P<text>.*)(?P=quote)""", re.DOTALL
)
_HIDDEN: Final = re.compile(r"""\\[^'"]""")
"""An escape that stands for another sign."""


class WrongGuard(ValueError):
    """A guard that is refused: the reason, and where (both from 1)."""

    def __init__(self, reason: str, line: int = 1, column: int = 1) -> None:
        super().__init__(f"line {line}, column {column}: {reason}")


class Token(NamedTuple):
    """A word or sign of an expression, and where it begins."""

    kind: str
    text: str
    at: int


@dataclass(frozen=True)
class Guard:
    """A guard that was read."""

    text: str
    reads: tuple[Path, ...]
    """The attributes that it reads; of a map the keys, if it names them."""
    refusal: str = ""
    """Why it is not evaluated: it was saved under rules that were less strict."""

    def evaluate(self, values: Mapping[Path, Any]) -> tuple[bool, str | None]:
        """Return whether it is true, and why it could not be evaluated: then it counts as false.

        `values` holds what it reads; a missing key of a map is not in it.
        """
        if self.refusal:
            return False, self.refusal
        try:
            result = program_of(self.text).execute(_tree_of(self.reads, values))
        except Exception as error:  # noqa: BLE001 (the library raises errors of many kinds)
            return False, failure_of(error)
        if not isinstance(result, bool):
            return False, f"it is {_shown(result)}, not true or false"
        return result, None


@lru_cache(maxsize=1000)
def program_of(text: str) -> "cel.Program":
    """Return what evaluates an expression. Raise `WrongGuard` if it is too long or is none."""
    from weft.core.queues.cel_library import cel  # noqa: PLC0415 (few need it)

    if len(text) > CHARS_MAX:
        raise WrongGuard(f"it has {len(text)} characters, at most {CHARS_MAX}")
    try:
        return cel.compile(text)
    except ValueError as error:
        found = refusal_of(str(error)) or Refusal(1, 1, "it is not an expression")
        raise WrongGuard(found.reason, found.line, found.column) from error


def compile_guard(text: str) -> Guard:
    """Return the guard. Raise `WrongGuard` with the position and the reason."""
    program = program_of(text)
    guard = Guard(text, _outermost(Reader(text).reads()))
    _refuse_other_types(guard, program)
    return guard


def compile_saved(text: str) -> Guard:
    """Return a guard that was accepted once. If it would be refused now, it is false and says why,
    so that the other queues go on.
    """
    try:
        return compile_guard(text)
    except WrongGuard as refused:
        return Guard(text, (), str(refused))


def compile_each_saved(_: None, text: str) -> Guard:
    """Return a guard that was accepted once (`Evaluates.each`)."""
    return compile_saved(text)


def refusal_of_each(_: None, text: str) -> str:
    """Return why a new guard is refused; empty: it is not (`Evaluates.each`)."""
    try:
        compile_guard(text)
    except WrongGuard as refused:
        return str(refused)
    return ""


def _outermost(paths: set[Path]) -> tuple[Path, ...]:
    """Return these paths without keys of maps that are read as a whole."""
    return tuple(sorted(path for path in paths if path in BY_PATH or path[:-1] not in paths))


def _refuse_other_types(guard: Guard, program: "cel.Program") -> None:
    """Try the guard with examples: what is not boolean there is never boolean."""
    values = {path: BY_PATH[path].example if path in BY_PATH else "a" for path in guard.reads}
    try:
        result = program.execute(_tree_of(guard.reads, values))
    except Exception:  # noqa: BLE001 (whether it fails depends on the values; then it counts as false)
        return
    if not isinstance(result, bool):
        raise WrongGuard(f"it is {_shown(result)}, not true or false")


def _tree_of(paths: Sequence[Path], values: Mapping[Path, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path in paths:
        branch = tree
        for part in path[:-1]:
            branch = branch.setdefault(part, {})
        if path in values:
            branch[path[-1]] = values[path]
    return tree


def _shown(result: object) -> str:
    kinds = {str: "text", int: "a number", float: "a number", list: "a list", dict: "a map"}
    return kinds.get(type(result), "something else")


class Reader:
    """What a guard reads, and whether it may: names are looked up, loops are counted. Expressions
    about something else than jobs are read by a subclass.
    """

    functions = _FUNCTIONS
    loops_max = LOOPS_MAX
    loops_of_matches = 1
    """So many may be around a pattern, which is compiled in each step."""

    def __init__(self, text: str) -> None:
        self._text = text
        found = (Token(m.lastgroup or "", m.group(), m.start()) for m in _TOKEN.finditer(text))
        self._tokens = [one for one in found if one.kind != "comment"]
        self._bound: list[tuple[str, int]] = []
        """Variables of the loops around a token, with the depth of brackets at which each ends."""
        self._n_maps = self._n_matches = 0

    def reads(self) -> set[Path]:
        """Return the paths. Raise `WrongGuard`."""
        found: set[Path] = set()
        depth, n = 0, 0
        while n < len(self._tokens):
            token = self._tokens[n]
            if token.text in {"(", "[", "{"}:
                depth += 1
            elif token.text in {")", "]", "}"}:
                depth -= 1
                self._bound = [one for one in self._bound if one[1] <= depth]
            elif token.text == "+" and self._bound:
                raise self.wrong(token, "+ cannot stand in a loop")
            elif token.kind == "name" and token.text not in _WORDS:
                n = self._name(n, depth, found)
                continue
            n += 1
        return found

    def _name(self, n: int, depth: int, found: set[Path]) -> int:
        """Look at a name and those that follow it after points; return the next position."""
        first = self._tokens[n]
        if n and self._tokens[n - 1].text == ".":  # of a value: `"a".size()`, `f(x).size()`
            if n == 1 or self._tokens[n - 2].kind not in {"name", "text", "sign"}:
                raise self.wrong(first, "a name cannot begin with a point")
            return self._method(n, depth)
        parts = [first.text]
        while self._is(n + 1, ".") and self._kind(n + 2) == "name" and not self._is(n + 3, "("):
            n += 2
            parts.append(self._tokens[n].text)
        if self._is(n + 1, "("):
            if first.text not in self.functions or len(parts) > 1:
                known = ", ".join(sorted(self.functions))
                raise self.wrong(first, f"there is no function {parts[-1]}; known: {known}")
        elif first.text not in {name for name, _ in self._bound}:
            found.add(self.path(tuple(parts), first))
        return n + 1

    def path(self, parts: Path, token: Token) -> Path:
        """Return what is read of a name with points. Raise `WrongGuard` if it is not known."""
        for n in range(1, len(parts) + 1):
            path = parts[:n]
            if path in BY_PATH:
                if n == len(parts):
                    return path
                if BY_PATH[path].type == MAP:
                    return parts[: n + 1]
                raise self.wrong(token, f"{'.'.join(path)} has no fields")
            if path not in PARENTS:
                like = meant_by(parts)
                known = ", ".join(fields_below(path[:-1]))
                advice = f"did you mean {like}?" if like else f"known: {known}"
                raise self.wrong(token, f"there is no attribute {'.'.join(path)}; {advice}")
        known = ", ".join(fields_below(parts))
        raise self.wrong(token, f"name a field of {'.'.join(parts)}: {known}")

    def _method(self, n: int, depth: int) -> int:
        token = self._tokens[n]
        if not self._is(n + 1, "("):
            return n + 1
        if token.text not in _METHODS:
            known = ", ".join(sorted(_METHODS))
            raise self.wrong(token, f"there is no function {token.text}; known: {known}")
        self._n_maps += token.text == "map"
        if self._n_maps > MAPS_MAX:
            raise self.wrong(token, f"at most {MAPS_MAX} map")
        if token.text == "matches":
            self._pattern(n)
        if token.text in _MACROS and self._kind(n + 2) == "name" and self._is(n + 3, ","):
            self._loop(n, depth)
        return n + 1

    def _loop(self, n: int, depth: int) -> None:
        token = self._tokens[n]
        if len(self._bound) == self.loops_max:
            raise self.wrong(token, f"at most {self.loops_max} loops inside each other")
        if self._bound and sum(one.text == "," for one in self._tokens) > COMMAS_MAX:
            raise self.wrong(token, f"with loops inside each other at most {COMMAS_MAX} commas")
        self._bound.append((self._tokens[n + 2].text, depth + 1))

    def _pattern(self, n: int) -> None:
        """Look at the pattern of `matches`, which is compiled each time it is used."""
        token, pattern = self._tokens[n], self._tokens[min(n + 2, len(self._tokens) - 1)]
        self._n_matches += 1
        if self._n_matches > MATCHES_MAX:
            raise self.wrong(token, f"at most {MATCHES_MAX} patterns")
        if len(self._bound) > self.loops_of_matches:
            where = "loops inside each other" if self.loops_of_matches else "a loop"
            raise self.wrong(token, f"matches cannot stand in {where}")
        if pattern.kind != "text" or not self._is(n + 3, ")"):
            raise self.wrong(token, "the pattern of matches is one text in quotes")
        try:
            check_pattern(_text_of(pattern.text), repeated=bool(self._bound))
        except WrongPattern as refused:
            raise self.wrong(pattern, str(refused)) from refused

    def _is(self, n: int, text: str) -> bool:
        return n < len(self._tokens) and self._tokens[n].text == text

    def _kind(self, n: int) -> str:
        return self._tokens[n].kind if n < len(self._tokens) else ""

    def wrong(self, token: Token, reason: str) -> WrongGuard:
        """Return the error about a place."""
        before = self._text[: token.at]
        return WrongGuard(reason, before.count("\n") + 1, token.at - before.rfind("\n"))


def _text_of(written: str) -> str:
    """Return the pattern that a text in quotes is. Raise `WrongPattern`."""
    match = _QUOTED.fullmatch(written)
    if match is None:
        raise WrongPattern("the pattern of matches is one text in quotes")
    if match["raw"]:
        return match["text"]
    if _HIDDEN.search(match["text"].replace("\\\\", "")):
        raise WrongPattern("in a pattern only backslashes are escaped; write it as r'...'")
    return match["text"].replace("\\\\", "\\")
