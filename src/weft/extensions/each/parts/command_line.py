"""The words of `weft each`: the command, and the values after `:::`."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weft.extensions.each.parts.packing import BETWEEN_VALUES, BadInputOption

VALUES = ":::"
_OTHERS = frozenset({":::+", "::::", "::::+"})


@dataclass(frozen=True)
class Words:
    """A command and the lists of values behind it."""

    command: Sequence[str]
    lists: Sequence[Sequence[str]] = ()

    def items(self) -> Iterator[bytes]:
        """Yield each combination of values as one item, the last list running fastest."""
        for values in itertools.product(*self.lists):
            yield BETWEEN_VALUES.join(value.encode("utf-8", "surrogateescape") for value in values)


def read_words(words: Sequence[str]) -> Words:
    """Cut the words at each `:::`. Raise `BadInputOption` for relatives of it."""
    for word in words:
        if word in _OTHERS:
            raise BadInputOption(
                f"weft each does not know {word}",
                detail="`:::` takes values from the command line; several combine in all ways.",
                hint="Read lines from a file with -f FILE, and columns of them with --colsep.",
            )
    starts = [n for n, word in enumerate(words) if word == VALUES]
    if not starts:
        return Words(words)
    ends = [*starts[1:], len(words)]
    lists = [words[start + 1 : end] for start, end in zip(starts, ends, strict=True)]
    return Words(words[: starts[0]], lists)
