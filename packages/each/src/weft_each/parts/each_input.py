"""Where the jobs of `weft each` come from: its input, cut as the options say, and the command;
and the pure part of `-j`: how many jobs run at the same time, in a number or in terms of cores.
"""

import itertools
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from weft_each.parts.lines import GivenItems, Item, LineReader
from weft_each.parts.options import EachOptions
from weft_each.parts.packing import (
    BETWEEN_VALUES,
    BadInputOption,
    Packer,
    columns_of,
    delimiter_of,
)
from weft_each.rules.input_lines import CommandTemplate, LineSplitter
from weft_each.rules.input_words import WordSplitter, WordTemplate

_LIMIT: Final = re.compile(r"([+-]?)([0-9]{1,9})|([0-9]{1,9}(?:\.[0-9]{1,9})?)%")


@dataclass(frozen=True)
class JobLimit:
    """`cores * per_core + more`; both together are what was written."""

    per_core: float = 0.0
    more: int = 0

    @property
    def is_fixed(self) -> bool:
        """Say whether it is the same on any number of cores."""
        return not self.per_core

    def on(self, cores: int) -> int:
        """Return the number of jobs on this number of cores; 0: no limit."""
        if self.is_fixed:
            return self.more
        return max(1, math.ceil(cores * self.per_core) + self.more)


def parse_job_limit(text: str) -> JobLimit:
    """Read `4`, `50%` of the cores, `+2` or `-1` beside their number, as GNU parallel does.
    Raise `ValueError`.

    >>> parse_job_limit("50%").on(cores=8)
    4
    """
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    if match[3] is not None:
        return JobLimit(per_core=float(match[3]) / 100) if float(match[3]) else JobLimit(more=1)
    return JobLimit(per_core=1.0 if match[1] else 0.0, more=int(match[1] + match[2]))


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


PIECE_ITEMS = 10_000
COMMAND_BYTES = 128 << 10
"""How large xargs makes a command by itself; a server takes no more, with the environment."""
COMMAND_BYTES_LEAST = 4 << 10


@dataclass(frozen=True)
class EachInput:
    """Lines or values, and the command."""

    words: Words
    how: EachOptions

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        how = self.how
        if how.null and how.delimiter is not None:
            raise BadInputOption("-0 and -d both say how items end", hint="Give one of them.")
        if self.words.lists and how.file is not None:
            raise BadInputOption(
                "there are values after ::: and a file of lines", hint="Give one of them."
            )
        if how.max_args is not None and how.max_lines is not None:
            raise BadInputOption("-n and -L both say what a job gets", hint="Give one of them.")
        if how.xargs and (self.words.lists or how.colsep is not None):
            raise BadInputOption(
                "--xargs knows no columns and no values after :::", hint="Leave out --xargs."
            )
        if (how.colsep is not None or len(self.words.lists) > 1) and self.packer().is_grouping:
            raise BadInputOption(
                "columns cannot be combined with several lines a job",
                detail="{1} would mean a column and a line.",
                hint="Leave out -n, -L, -N and -s, or --colsep and all but one :::.",
            )
        if how.replace == "":
            raise BadInputOption("-I needs a text", hint="Write it as -I {} or -I %.")

    def reader(self) -> LineReader | GivenItems:
        """Return what gives the items."""
        how = self.how
        if self.words.lists:
            return GivenItems(enumerate(self.words.items(), 1))
        if how.null or how.delimiter is not None:
            end = b"\0" if how.delimiter is None else delimiter_of(how.delimiter)
            return LineReader(how.file, LineSplitter(end))
        splitter = (
            WordSplitter(whole_lines=how.replace is not None) if how.xargs else LineSplitter()
        )
        return LineReader(how.file, splitter, None if how.eof is None else os.fsencode(how.eof))

    def packer(self) -> Packer:
        """Return what puts items together."""
        how = self.how
        if how.xargs:
            return self._xargs_packer()
        has_lists = len(self.words.lists) > 1
        per_job = how.max_args or how.max_lines
        return Packer(
            per_job=per_job,
            chars_max=how.max_chars or (per_job and _bytes_that_fit()),
            base_chars=_chars(self.words.command),
            copies=max(1, sum(word.count(how.replace or "{}") for word in self.words.command)),
            exits=how.exits,
            columns=re.compile(BETWEEN_VALUES) if has_lists else columns_of(how.colsep),
        )

    def _xargs_packer(self) -> Packer:
        how = self.how
        replaces = how.replace is not None
        by_item = how.null or how.delimiter is not None
        return Packer(
            per_job=1 if replaces else how.max_args or (how.max_lines if by_item else None),
            lines_per_job=None if replaces or by_item else how.max_lines,
            chars_max=how.max_chars or _bytes_that_fit(),
            base_chars=_chars(self.words.command),
            exits=how.exits or replaces or how.max_lines is not None,
            measures=(lambda values: _chars(self.template().render(values, 0)))
            if replaces
            else None,
            stops=True,
            runs_empty=not (replaces or how.no_run_if_empty),
        )

    def template(self) -> CommandTemplate | WordTemplate:
        """Return the command with its places for values."""
        if self.how.xargs:
            return WordTemplate(self.words.command, self.how.replace)
        packer = self.packer()
        return CommandTemplate(
            self.words.command,
            self.how.replace or "{}",
            has_positions=(
                packer.is_grouping or packer.columns is not None or bool(self.words.lists)
            ),
            repeats=packer.is_grouping,
        )

    def job_limit(self) -> JobLimit | None:
        """Return how many jobs run at the same time. Raise `BadInputOption`."""
        text = self.how.jobs
        if text is None:
            return JobLimit(more=1) if self.how.xargs else None
        try:
            return parse_job_limit(text)
        except ValueError:
            raise BadInputOption(
                f"-j {text!r} is not a number of jobs",
                detail="It is how many jobs run at the same time.",
                hint="Write 4, 50% (of the cores), +1 or -1 (more or fewer), or 0 (no limit).",
            ) from None


def _chars(words: Sequence[str]) -> int:
    """Return the bytes of a command, each word with its end."""
    return sum(len(os.fsencode(word)) + 1 for word in words)


def _bytes_that_fit() -> int:
    """Return how large a command may be beside the environment that goes with it."""
    environment = sum(len(os.fsencode(text)) + 1 for item in os.environ.items() for text in item)
    return max(COMMAND_BYTES - environment, COMMAND_BYTES_LEAST)


async def read_whole(reader: LineReader | GivenItems, packer: Packer) -> tuple[GivenItems, int]:
    """Return the items of the whole input, and the number of their jobs."""
    items: list[Item] = []
    reader.start()
    while some := await reader.take(PIECE_ITEMS):
        items += some
    n_jobs = sum(1 for _ in packer.feed(items)) + sum(1 for _ in packer.finish())
    return GivenItems(items, reader.wrong), n_jobs
