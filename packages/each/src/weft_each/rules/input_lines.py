"""Input cut into lines, and lines put into commands: the pure part of `weft each`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from weft.core.text.shell_script import (
    Quoting,
    quoted,
    quoting_before,
    script_words,
)

LINE_BYTES_MAX = 1 << 20
"""More than any command takes: of a longer line the beginning is kept, and refused like it."""


class LineSplitter:
    """Cut a stream of bytes into items, wherever it is cut in pieces.

    An empty line is no item, as with xargs; what is empty between two other separators is one.
    """

    def __init__(self, separator: bytes | None = None) -> None:
        """Cut at this separator; None: at the ends of lines."""
        self._separator = separator or b"\n"
        self._keeps_empty = separator is not None
        self._rest = b""
        self._n_lines = 0
        self.wrong: str | None = None
        """Why nothing more can be read; of lines, nothing ever."""

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Take what was read; return the whole items, with the numbers of their lines (from 1)."""
        *lines, self._rest = (self._rest + data).split(self._separator)
        self._rest = self._rest[: LINE_BYTES_MAX + 1]
        return self._number(lines)

    def finish(self) -> list[tuple[int, bytes]]:
        """Return what stood after the last separator."""
        rest, self._rest = self._rest, b""
        return self._number([rest] if rest else [])

    def _number(self, lines: Sequence[bytes]) -> list[tuple[int, bytes]]:
        first = self._n_lines + 1
        self._n_lines += len(lines)
        return [
            (number, line) for number, line in enumerate(lines, first) if line or self._keeps_empty
        ]


@dataclass(frozen=True)
class CommandTemplate:
    """A command with places for the values of one job, as in GNU parallel.

    `{}` the value · `{.}` without its extension · `{/}` its last part · `{//}` its directory ·
    `{/.}` the last part without its extension · `{#}` the number of the job · `{%}` its slot.
    A command without any of them gets the values as its last arguments. In the script of `sh -c`
    a value is quoted: it stays one word, or a part of one.

    >>> CommandTemplate(("cp", "{}", "{/.}.bak")).render(["a/b.txt"], 1)
    ['cp', 'a/b.txt', 'b.bak']
    """

    arguments: Sequence[str]
    whole: str = "{}"
    """What stands for the value."""
    has_positions: bool = False
    """`{2}`, `{2.}`, `{2/}` … are the second value, `{-1}` the last one."""
    repeats: bool = False
    """A word with a placeholder becomes one for each value; else they are joined by a space."""

    def render(self, values: Sequence[str], number: int, slot: int = 1) -> list[str]:
        """Return the command of one job; what stands in a value is not replaced again.

        Raise `Unsafe` for a value that cannot be quoted in a script of a shell.
        """
        if not self.has_placeholder:
            return [*self.arguments, *values]
        return [
            self._filled(position, word, own, values, {"#": number, "%": slot})
            for position, word in enumerate(self.arguments)
            for own in ([[one] for one in values] if self._takes_each(word) else [values])
        ]

    @property
    def has_placeholder(self) -> bool:
        """Say whether the values have a place in the command."""
        return any(self._places.search(argument) for argument in self.arguments)

    @cached_property
    def has_slot(self) -> bool:
        """Say whether the command names the slot of its job."""
        return any(
            match["form"] == "%"
            for argument in self.arguments
            for match in self._places.finditer(argument)
        )

    @cached_property
    def _places(self) -> re.Pattern[str]:
        position = "(?P<position>-?[1-9][0-9]{0,5})?" if self.has_positions else "(?P<position>)"
        forms = f"{{{position}(?P<form>//|/?\\.|/|#|%)}}"
        if self.has_positions:
            return re.compile(
                rf"{re.escape(self.whole)}|{forms}|{{(?P<only>-?[1-9][0-9]{{0,5}})}}"
            )
        return re.compile(rf"{re.escape(self.whole)}|{forms}")

    @cached_property
    def _scripts(self) -> Mapping[int, bool]:
        return script_words(self.arguments)

    def _takes_each(self, word: str) -> bool:
        """Say whether a word stands for all values, and becomes one word for each."""
        matches = [match for match in self._places.finditer(word) if _is_of_all(match)]
        return bool(matches) and (self.repeats or matches[0][0] == word)

    def _filled(
        self,
        at: int,
        word: str,
        own: Sequence[str],
        values: Sequence[str],
        counts: Mapping[str, int],
    ) -> str:
        # A word that is nothing but a place is a script that the line itself is.
        is_script = at in self._scripts and not self._places.fullmatch(word)

        def value(match: re.Match[str]) -> str:
            form = match["form"] or ""
            if form in counts:
                return str(counts[form])
            position = match["position"] or match.groupdict().get("only")
            chosen = _at(values, int(position)) if position else own
            filled = [_value(form, one) for one in chosen]
            if is_script:
                before = quoting_before(word[: match.start()])
                quoting = before if self._scripts[at] else Quoting.UNKNOWN
                filled = [quoted(one, quoting) for one in filled]
            return " ".join(filled)

        return self._places.sub(value, word)


def _is_of_all(match: re.Match[str]) -> bool:
    position = match["position"] or match.groupdict().get("only")
    return match["form"] not in {"#", "%"} and not position


def _at(values: Sequence[str], position: int) -> Sequence[str]:
    """Return the value at a position from 1, or from -1 at the end; nothing if there is none."""
    index = position - 1 if position > 0 else len(values) + position
    return values[index : index + 1] if index >= 0 else ()


def _value(form: str, line: str) -> str:
    directory, slash, last = line.rpartition("/")
    match form:
        case ".":
            return directory + slash + _stem(last)
        case "/":
            return last
        case "/.":
            return _stem(last)
        case "//":
            return directory or ("/" if slash else ".")
    return line


def _stem(name: str) -> str:
    """Return the name without its last dot and what follows it, if anything does."""
    return re.sub(r"\.[^.]+\Z", "", name)
