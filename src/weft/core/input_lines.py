"""Input cut into lines, and lines put into commands: the pure part of `weft each`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

LINE_BYTES_MAX = 1 << 20
"""More than any command takes: of a longer line the beginning is kept, and refused like it."""


class LineSplitter:
    """Cut a stream of bytes into items, wherever it is cut in pieces.

    An empty line is no item, as with xargs; what is empty between two NUL characters is one.
    """

    def __init__(self, separator: bytes = b"\n") -> None:
        self._separator = separator
        self._keeps_empty = separator != b"\n"
        self._rest = b""
        self._n_lines = 0

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Take what was read; return the items that are whole, with the numbers of their lines
        (from 1).
        """
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


_PLACEHOLDER = re.compile(r"\{(?:/?\.?|//|#)\}")


@dataclass(frozen=True)
class CommandTemplate:
    """A command with places for the line, as in GNU parallel.

    `{}` the line · `{.}` without its extension · `{/}` its last part · `{//}` its directory ·
    `{/.}` the last part without its extension · `{#}` the number of the line.
    A command without any of them gets the line as its last argument.

    >>> CommandTemplate(("cp", "{}", "{/.}.bak")).render("a/b.txt", 1)
    ['cp', 'a/b.txt', 'b.bak']
    """

    arguments: Sequence[str]

    def render(self, line: str, number: int) -> list[str]:
        """Return the command for one line; what stands in the line is not replaced again."""

        def value(match: re.Match[str]) -> str:
            return _value(match[0], line, number)

        if not self.has_placeholder:
            return [*self.arguments, line]
        return [_PLACEHOLDER.sub(value, argument) for argument in self.arguments]

    @property
    def has_placeholder(self) -> bool:
        """Say whether the line has a place in the command."""
        return any(_PLACEHOLDER.search(argument) for argument in self.arguments)


def _value(placeholder: str, line: str, number: int) -> str:
    directory, slash, last = line.rpartition("/")
    match placeholder:
        case "{.}":
            return directory + slash + _stem(last)
        case "{/}":
            return last
        case "{/.}":
            return _stem(last)
        case "{//}":
            return directory or ("/" if slash else ".")
        case "{#}":
            return str(number)
    return line


def _stem(name: str) -> str:
    """Return the name without its last dot and what follows it, if anything does."""
    return re.sub(r"\.[^.]+\Z", "", name)
