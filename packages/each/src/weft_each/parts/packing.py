"""From items to the values of one job: one item, several, or the columns of one."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from weft.core.errors import Invalid
from weft_each.parts.lines import Item

BETWEEN_VALUES: Final = b"\0"
"""Between the values of an item that comes from several lists."""
_NO_NUL: Final = "it contains a NUL character"


class BadInputOption(Invalid, code="CLI.BAD_INPUT_OPTION"):
    """An option of `weft each` about its input that cannot be used."""


class Pack(NamedTuple):
    """What one job is given."""

    number: int
    """Of the line; of the job if it has several items."""
    line: str
    """The line, or the values between spaces. Bytes that are not UTF-8 are surrogates."""
    values: Sequence[str]
    wrong: str | None = None
    """Why this cannot become a job."""
    stops: bool = False
    """Whether nothing after it may become one."""


@dataclass
class Packer:
    """Cut items into values, and put several items together."""

    per_job: int | None = None
    chars_max: int | None = None
    base_chars: int = 0
    """Of a command without values."""
    copies: int = 1
    """How often the values stand in the command."""
    columns: re.Pattern[bytes] | None = None
    lines_per_job: int | None = None
    """The words of this many lines go together."""
    exits: bool = False
    """End if fewer lines than asked for fit into a job."""
    stops: bool = False
    """End at a line that fits into no job."""
    measures: Callable[[Sequence[str]], int] | None = None
    """Returns the bytes of the command with these values, if they do not just add up."""
    runs_empty: bool = False
    """Make one job without values if there is no input."""
    _items: list[Item] = field(default_factory=list)
    _chars: int = 0
    _n_packs: int = 0

    @property
    def is_grouping(self) -> bool:
        """Say whether a job may have several items."""
        return self._has_count or self.chars_max is not None

    @property
    def _has_count(self) -> bool:
        return self.per_job is not None or self.lines_per_job is not None

    def feed(self, items: Sequence[Item]) -> Iterator[Pack]:
        """Yield the packs that these items make full."""
        if not self.is_grouping:
            yield from map(self._of_item, items)
            return
        for item in items:
            chars = self.copies * (len(item[1]) + 1)
            if self._items and self._has_its_lines(item):
                yield self._of_items()
            if self._items and self._is_full(chars):
                if self.exits and self._has_count:
                    yield self._too_many(chars)
                    return
                yield self._of_items()
            self._items.append(item)
            self._chars += chars
            if self.per_job is not None and len(self._items) >= self.per_job:
                yield self._of_items()

    def finish(self, *, is_cut: bool = False) -> Iterator[Pack]:
        """Yield what is left at the end of the input. `is_cut`: a mistake ended it."""
        if self._items:
            if not (is_cut and self.exits):
                yield self._of_items()
        elif self.runs_empty and not self._n_packs and not is_cut:
            yield self._of_items()

    def _has_its_lines(self, next_item: Item) -> bool:
        limit = self.lines_per_job
        return limit is not None and next_item[0] >= self._items[0][0] + limit

    def _is_full(self, more_chars: int) -> bool:
        limit = self.chars_max
        return limit is not None and self.base_chars + self._chars + more_chars > limit

    def _of_item(self, item: Item) -> Pack:
        number, raw = item
        if self.columns is not None:
            values = [_text(one) for one in self.columns.split(raw)]
            joined = self.columns.pattern == BETWEEN_VALUES
            line = " ".join(values) if joined else _text(raw)
        else:
            line = _text(raw)
            values = [line]
        return Pack(number, line, values, _NO_NUL if "\0" in line else None)

    def _of_items(self) -> Pack:
        values = [_text(raw) for _, raw in self._items]
        chars = self.base_chars + self._chars
        if self.measures is not None:
            chars = self.measures(values)
        self._items, self._chars = [], 0
        self._n_packs += 1
        line = " ".join(values)
        wrong = _NO_NUL if "\0" in line else None
        if self.chars_max is not None and chars > self.chars_max:
            wrong = f"the command has {chars} bytes, at most {self.chars_max} (-s)"
        is_last = wrong is not None and (self.stops or self.exits)
        return Pack(self._n_packs, line, values, wrong, is_last)

    def _too_many(self, more_chars: int) -> Pack:
        values = [_text(raw) for _, raw in self._items]
        chars = self.base_chars + self._chars + more_chars
        self._items, self._chars = [], 0
        self._n_packs += 1
        wrong = f"with one more the command has {chars} bytes, at most {self.chars_max} (-s)"
        return Pack(self._n_packs, " ".join(values), values, wrong, stops=True)


def columns_of(text: str | None) -> re.Pattern[bytes] | None:
    """Return the separator of columns. Raise `BadInputOption` for an impossible one."""
    if text is None:
        return None
    try:
        pattern = re.compile(text.encode())
    except re.error as error:
        raise BadInputOption(
            f"--colsep {text!r} is not a regular expression",
            detail=f"{error}.",
            hint=r"Put a backslash before its special characters: --colsep '\|'.",
        ) from error
    if pattern.match(b""):
        raise BadInputOption(
            f"--colsep {text!r} finds nothing",
            detail="It matches an empty text, so it separates no columns.",
            hint=r"Write a separator such as ',' or '\s+'.",
        )
    return pattern


_ESCAPES: Final = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\", "r": "\r", "a": "\a", "f": "\f"}


def delimiter_of(text: str) -> bytes:
    r"""Return the byte that `-d` names: a character, `\n`, `\t`, `\0`, `\x2c` or `\054`."""
    if len(text.encode()) == 1:
        return text.encode()
    if text[:1] == "\\":
        rest = text[1:]
        if rest in _ESCAPES:
            return _ESCAPES[rest].encode()
        if re.fullmatch("x[0-9a-fA-F]{1,2}", rest):
            return bytes([int(rest[1:], 16)])
        if re.fullmatch("[0-3]?[0-7]{1,2}", rest):
            return bytes([int(rest, 8)])
    raise BadInputOption(
        f"-d {text!r} is not one character",
        detail="Items end with one byte.",
        hint=r"Write it as -d , or -d '\t' or -d '\x1f'.",
    )


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
