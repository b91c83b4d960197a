"""What `weft top` shows, and how keys change it. Nothing here asks the server or draws."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from weft.core.access.rights import Right

Match = tuple[int, int]
"""The number of a line, and of a character in it."""


@dataclass
class Search:
    """What is sought, in small letters or capitals; empty: nothing."""

    text: str = ""
    at: Match | None = None
    """Where the last step has led."""

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """Return what finds the text in a line."""
        return re.compile(re.escape(self.text), re.IGNORECASE) if self.text else None

    def step(self, texts: Sequence[str], steps: int, *, top: int) -> str:
        """Go to the next match, or with -1 to the one before, and round at the end: at first from
        line `top` on. Return which it is of how many, in words.
        """
        matches = self._matches(texts)
        if not matches:
            self.at = None
            return f"no line has {self.text!r}"
        if self.at is None:
            index = bisect_left(matches, (top, 0)) - (steps < 0)
        elif steps > 0:
            index = bisect_left(matches, (self.at[0], self.at[1] + 1))
        else:
            index = bisect_left(matches, self.at) - 1
        index %= len(matches)
        self.at = matches[index]
        return f"{index + 1:,} of {len(matches):,}"

    def _matches(self, texts: Sequence[str]) -> list[Match]:
        pattern = self.pattern
        if pattern is None:
            return []
        return [
            (number, match.start())
            for number, text in enumerate(texts)
            for match in pattern.finditer(text)
        ]


Document = Mapping[str, Any]
Prompt = Literal["", "filter", "search", "confirm"]
FILTER_CHARS_MAX = 1000


@dataclass(frozen=True)
class Row:
    """One line of a list: `name` tells it from the others, also after it has changed."""

    name: str
    cells: tuple[str, ...]
    document: Document


@dataclass(frozen=True)
class Columns:
    """The columns of a list. `sorts`: those that it can be sorted by, and what they compare."""

    header: tuple[str, ...]
    spare: tuple[str, ...] = ()
    sorts: Mapping[str, Callable[[Document], Any]] = field(default_factory=dict)


@dataclass(kw_only=True)
class View:
    """One list or text, with what is selected of it.

    A list has `columns`. Its rows keep their place on the screen by name: what is selected stays
    selected when others come and go.
    """

    kind: str
    title: str
    target: Document = field(default_factory=dict)
    columns: Columns = Columns(())
    rows: Sequence[Row] = ()
    texts: Sequence[str] = ()
    """The lines of a text as they are."""
    lines: Sequence[str] = ()
    """Those lines broken so that they fit a screen of `width`; 0: not yet."""
    begins: Sequence[int] = ()
    """The first of those lines for each text."""
    width: int = 0
    search: Search = field(default_factory=Search)
    facts: str = ""
    query: str = ""
    only: str = ""
    """The states to which a list of jobs is limited, by name."""
    sort: str = ""
    is_reversed: bool = False
    is_loaded: bool = False
    index: int = 0
    offset: int = 0
    is_at_end: bool = False
    """Whether a text stays at its last line while it grows. An output that somebody reads
    elsewhere stays as it is.
    """

    @property
    def is_list(self) -> bool:
        """Say whether it has rows, not lines."""
        return bool(self.columns.header)

    @property
    def selected(self) -> Row | None:
        """Return the row with the cursor."""
        return self.rows[self.index] if self.index < len(self.rows) else None

    def show(self, rows: Sequence[Row]) -> None:
        """Replace the rows; the cursor stays on its row as long as that is there."""
        before = self.selected
        if self.sort:
            key = self.columns.sorts[self.sort]
            # Numbers begin with the largest, words with A.
            is_words = any(isinstance(key(row.document), str) for row in rows[:1])
            rows = sorted(
                rows, key=lambda row: key(row.document), reverse=self.is_reversed == is_words
            )
        elif self.is_reversed:
            rows = rows[::-1]
        self.rows, self.is_loaded = rows, True
        names = [row.name for row in rows]
        if before is not None and before.name in names:
            self.index = names.index(before.name)
        self.index = max(0, min(self.index, len(rows) - 1))

    def show_text(self, texts: Sequence[str]) -> None:
        """Replace the text."""
        self.texts, self.is_loaded, self.width = texts, True, 0
        self.search.at = None

    def seek(self, steps: int, *, height: int) -> str:
        """Show the next match of what is sought; return which it is, in words."""
        top = bisect_right(self.begins, self.scroll(height)) - 1
        said = self.search.step(self.texts, steps, top=max(0, top))
        if self.search.at is not None:
            line = self.line_of(self.search.at)
            self.is_at_end = False
            if not self.offset <= line < self.offset + height:
                self.offset = max(0, line - height // 2)
        return said

    def line_of(self, match: Match) -> int:
        """Return the line of the screen on which a match begins."""
        number, character = match
        line = self.begins[number]
        last = [*self.begins[1:], len(self.lines)][number] - 1
        while line < last and character >= len(self.lines[line]):
            character -= len(self.lines[line])
            line += 1
        return line

    def scroll(self, height: int) -> int:
        """Return the first line to show of a screen with room for `height`, and remember it."""
        if self.is_list:
            self.offset = max(self.index - height + 1, min(self.offset, self.index))
            return max(0, self.offset)
        last = max(0, len(self.lines) - height)
        self.offset = last if self.is_at_end else max(0, min(self.offset, last))
        return self.offset

    def move(self, steps: int, *, height: int) -> None:
        """Move the cursor of a list, or scroll a text."""
        if self.is_list:
            self.index = max(0, min(self.index + steps, len(self.rows) - 1))
            return
        last = max(0, len(self.lines) - height)
        self.offset = max(0, min(self.scroll(height) + steps, last))
        is_kept = self.is_at_end and not last  # there is nowhere else to go
        self.is_at_end = self.offset == last and (steps > 0 or is_kept)

    def sort_next(self) -> None:
        """Sort by the next column; after the last one, as the server does."""
        names = ["", *self.columns.sorts]
        self.sort = names[(names.index(self.sort) + 1) % len(names)]
        self.is_reversed = False


@dataclass
class Screen:
    """All that is shown: the open views, the last of them on top, and the line below."""

    views: list[View]
    rights: Collection[str] = frozenset(Right)
    """What the user's role and token allow."""
    message: str = ""
    is_wrong: bool = False
    outage: str = ""
    prompt: Prompt = ""
    typed: str = ""
    question: str = ""
    height: int = 1
    """Rows or lines that the view on top has room for."""

    @property
    def view(self) -> View:
        """Return the view on top."""
        return self.views[-1]

    def say(self, text: str, *, is_wrong: bool = False) -> None:
        """Show a message until the next key."""
        self.message, self.is_wrong = text, is_wrong

    def ask(self, question: str) -> None:
        """Ask for yes or no."""
        self.prompt, self.question = "confirm", question

    def begin_typing(self) -> None:
        """Let the query of a list be typed, or what is sought in an output."""
        if self.view.is_list:
            self.prompt, self.typed = "filter", self.view.query
        else:
            self.prompt, self.typed = "search", ""

    def type(self, key: str) -> bool:
        """Take a key into what is typed; return True when it is there: `typed`."""
        if key == "enter":
            self.prompt = ""
            return True
        if key == "escape":
            self.prompt = ""
        elif key == "backspace":
            self.typed = self.typed[:-1]
        elif key == "clear":
            self.typed = ""
        elif len(key) == 1 and len(self.typed) < FILTER_CHARS_MAX:
            self.typed += key
        return False

    def move(self, key: str) -> bool:
        """Move by a key; return False if it is another one."""
        steps = {
            "up": -1,
            "k": -1,
            "down": 1,
            "j": 1,
            "page up": -self.height,
            "page down": self.height,
            " ": self.height,
            "home": -(1 << 30),
            "g": -(1 << 30),
            "end": 1 << 30,
            "G": 1 << 30,
        }.get(key)
        if steps is None:
            return False
        self.view.move(steps, height=self.height)
        return True
