"""Tables and documents on standard output."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from weft.cli.terminal.plain import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STATE_STYLES = {
    "success": "green",
    "failed": "red",
    "failure": "red",
    "error": "red",
    "running": "cyan",
    "cancelled": "yellow",
    "blocked": "magenta",
}


def print_json(document: object) -> None:
    """Print one document, readable on a terminal, on one line elsewhere."""
    body = msgspec.json.encode(document)
    if sys.stdout.isatty():
        body = msgspec.json.format(body, indent=2)
    sys.stdout.write(body.decode() + "\n")
    sys.stdout.flush()


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()
) -> None:
    """Print rows below a header; columns in `right` are aligned to the right."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for name in header:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(name, value) for name, value in zip(header, row, strict=True)))
    _console().print(table)


class TableRows:
    """A table that is printed part by part, as its rows come."""

    def __init__(
        self, header: Sequence[str], *, right: Sequence[str] = (), widths: Sequence[int] = ()
    ) -> None:
        self._header = header
        self._right = right
        self._widths = widths
        self._is_first = True

    def print(self, rows: Sequence[Sequence[object]]) -> None:
        """Print the next rows; the header stands above the first."""
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415

        if not rows:
            return
        table = Table(
            box=SIMPLE_HEAD if self._is_first else None,
            show_edge=False,
            pad_edge=False,
            header_style="bold",
            show_header=self._is_first,
            padding=(0, 1),
        )
        self._is_first = False
        for name, width in zip(self._header, self._widths, strict=True):
            justify: Literal["left", "right"] = "right" if name in self._right else "left"
            table.add_column(name, justify=justify, overflow="fold", min_width=width)
        for row in rows:
            table.add_row(*(_cell(*pair) for pair in zip(self._header, row, strict=True)))
        _console().print(table)


class JsonItems:
    """One array of documents, a line each, printed as they come."""

    def __init__(self) -> None:
        self._opening = "["

    def print(self, documents: Sequence[object]) -> None:
        """Print the next documents."""
        for document in documents:
            sys.stdout.write(f"{self._opening}{msgspec.json.encode(document).decode()}")
            self._opening = ",\n"
        sys.stdout.flush()

    def end(self) -> None:
        """Close the array."""
        sys.stdout.write("[]\n" if self._opening == "[" else "]\n")
        sys.stdout.flush()


def print_facts(facts: Mapping[str, object]) -> None:
    """Print names and values in two columns; those that are `None` are left out."""
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value is not None:
            table.add_row(name, _cell(name, value))
    _console().print(table)


def _cell(name: str, value: object) -> "Text":
    from rich.text import Text  # noqa: PLC0415

    text = "" if value is None else plain(value)
    word = text.split(" ")[0] if name.lower() == "state" else ""
    return Text(text, style=STATE_STYLES.get(word, ""))


def _console() -> "Console":
    from rich.console import Console  # noqa: PLC0415

    # Where nobody looks, nothing is cut: a column as wide as its widest value.
    return Console() if sys.stdout.isatty() else Console(width=10_000, soft_wrap=False)
