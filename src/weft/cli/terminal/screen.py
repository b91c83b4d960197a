"""Tables and documents on standard output, and the words in which they are written."""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from weft.cli.terminal.plain import cell, moment, one_line, plain
from weft.cli.terminal.report import note
from weft.core.text.escapes import escaped_in_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from weft.client.http.calls import Listing


GAP = 2
"""Blanks between two columns."""
FLEXIBLE = ("Name", "Why", "What", "Guard")
"""Texts: they are cut before a column is left out."""
FLEXIBLE_MIN = 12


def fit_columns(
    needs: Mapping[str, int], width: int, spare: Sequence[str] = (), *, gap: int = GAP
) -> dict[str, int]:
    """Return the columns that a screen has room for, with their widths.

    Texts give way first, then the columns in `spare`, in that order. Another column is whole or
    not there: half an id is none.
    """
    fitted = dict(needs)
    least = {name: min(needs[name], FLEXIBLE_MIN) for name in FLEXIBLE if name in needs}
    for name in spare:
        if _width_of({**fitted, **{n: least[n] for n in least if n in fitted}}, gap) <= width:
            break
        fitted.pop(name, None)
    for name in sorted(least.keys() & fitted.keys(), key=lambda one: -needs[one]):
        too_much = max(0, _width_of(fitted, gap) - width)
        fitted[name] = max(least[name], fitted[name] - too_much)
    return fitted


def _width_of(columns: Mapping[str, int], gap: int) -> int:
    return sum(columns.values()) + gap * (len(columns) - 1)


__all__ = ["cell", "moment", "note", "one_line", "plain"]

Document = Mapping[str, Any]
Column = str | Callable[[Any], object]
"""The name of a field, or a function of the document."""
Columns = Mapping[str, Column]
"""By title."""
STATE_STYLES = {
    "success": "green",
    "failed": "red",
    "failure": "red",
    "error": "red",
    "running": "cyan",
    "cancelled": "yellow",
    "blocked": "magenta",
    "cordoned": "yellow",
    "draining": "yellow",
    "silent": "yellow",
    "lost": "red",
}

RULED_GAP = 3
"""Blanks between two columns of a table with a rule below its header."""


def print_json(document: object) -> None:
    """Print one document, readable on a terminal, on one line elsewhere."""
    text = line_of(document)
    if sys.stdout.isatty():
        text = msgspec.json.format(text, indent=2)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def print_line(document: object) -> None:
    """Print one document of many, on one line."""
    sys.stdout.write(line_of(document) + "\n")
    sys.stdout.flush()


def print_table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[str] = (),
    spare: Sequence[str] | None = None,
    empty: str = "",
) -> None:
    """Print rows below a header; columns in `right` are aligned to the right.

    `spare`: one line a row; on a narrow terminal texts are cut and these columns left out, in this
    order. None: what does not fit is wrapped. `empty`: said if there is no row.
    """
    lines = list(rows)
    if empty and not lines:
        note(empty)
    else:
        TableRows(header, right=right, spare=spare).print(lines, is_all=True)


def print_columns(
    columns: Columns,
    rows: Iterable[Any],
    *,
    right: Sequence[str] = (),
    spare: Sequence[str] | None = None,
    empty: str = "",
) -> None:
    """Print documents as a table, as `print_table` does."""
    cells = [cells_of(columns, row) for row in rows]
    print_table(tuple(columns), cells, right=right, spare=spare, empty=empty)


def cells_of(columns: Columns, row: Any) -> tuple[str, ...]:  # noqa: ANN401 (a document or an object)
    """Return a document as a line of a table."""
    return tuple(_text(row[one] if isinstance(one, str) else one(row)) for one in columns.values())


def text(name: str, width: int, otherwise: str = "") -> Column:
    """Return a column with a text, cut; `otherwise` stands for one that is missing or empty."""
    return lambda row: one_line(row[name] or otherwise, width=width)


def long_text(name: str, width: int) -> Column:
    """Return a column with a text that is cut on a terminal only."""
    return lambda row: cell(row[name] or "", width=width)


def at(name: str, otherwise: str = "") -> Column:
    """Return a column with a time; `otherwise` stands for none."""
    return lambda row: moment(row[name]) or otherwise


class TableRows:
    """A table that is printed part by part, as its rows come.

    Where nobody looks, a row is its values with a tab between two: nothing is cut or padded.
    """

    def __init__(
        self,
        header: Sequence[str],
        *,
        right: Sequence[str] = (),
        spare: Sequence[str] | None = None,
        least: Sequence[int] = (),
        optional: Sequence[str] = (),
    ) -> None:
        """`optional`: columns that are left out of a terminal as long as they are empty."""
        assert len({*header}) == len(header), header
        self._header = header
        self._optional = optional
        self._right = right
        self._spare = spare
        self._least = dict(zip(header, least, strict=False))
        self._widths: Mapping[str, int] = {}
        self._is_first = True

    def print(self, rows: Sequence[Sequence[object]], *, is_all: bool = False) -> None:
        """Print the next rows; the header stands above the first, also of none if `is_all`."""
        if not rows and not is_all:
            return
        if sys.stdout.isatty():
            self._draw(rows)
        else:
            for row in (self._header, *rows) if self._is_first else rows:
                print("\t".join(_flat(value) for value in row))
        self._is_first = False

    def _draw(self, rows: Sequence[Sequence[object]]) -> None:
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415

        console = _console()
        empty = {
            name
            for name, *cells in zip(self._header, *rows, strict=True)
            if name in self._optional and not any(map(_text, cells))
        }
        has_more = not set(self._optional) - empty <= self._widths.keys()
        has_header = self._is_first or has_more
        if has_header:
            self._widths = self._fit(rows, console.width, empty)
        is_cut = self._spare is not None
        table = Table(
            box=SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            header_style="bold",
            show_header=has_header,
            padding=(0, 1),
        )
        for name, width in self._widths.items():
            table.add_column(
                name,
                justify="right" if name in self._right else "left",
                overflow="ellipsis" if is_cut else "fold",
                no_wrap=is_cut,
                min_width=width if is_cut else None,
                max_width=width if is_cut and name in FLEXIBLE else None,
            )
        for row in rows:
            pairs = zip(self._header, row, strict=True)
            table.add_row(*(_cell(*pair) for pair in pairs if pair[0] in self._widths))
        console.print(table)

    def _fit(
        self, rows: Sequence[Sequence[object]], width: int, left_out: Collection[str]
    ) -> Mapping[str, int]:
        from rich.cells import cell_len  # noqa: PLC0415

        columns = zip(self._header, self._header, *rows, strict=True)
        needs = {
            name: max(self._least.get(name, 0), *(cell_len(_text(cell)) for cell in cells))
            for name, *cells in columns
            if name not in left_out
        }
        return (
            needs if self._spare is None else fit_columns(needs, width, self._spare, gap=RULED_GAP)
        )


class JsonItems:
    """One array of documents, a line each, printed as they come."""

    def __init__(self) -> None:
        self._opening = "["

    def print(self, documents: Sequence[object]) -> None:
        """Print the next documents."""
        for document in documents:
            sys.stdout.write(f"{self._opening}{line_of(document)}")
            self._opening = ",\n"
        sys.stdout.flush()

    def end(self) -> None:
        """Close the array."""
        sys.stdout.write("[]\n" if self._opening == "[" else "]\n")
        sys.stdout.flush()


async def print_pages(
    listing: "Listing[Any]",
    rows: TableRows,
    row: Callable[[Document], Sequence[object]],
    *,
    nothing: str,
    as_json: bool,
    limit: int = 0,
    keep: Callable[[Document], object] = bool,
) -> int:
    """Print a list page by page, at most `limit` of it (0: all); of none, a note. Return 0."""
    items, count, more = JsonItems(), 0, False
    while not more and (page := await listing.next_page()):
        page = [*filter(keep, page)]
        more = bool(limit) and count + len(page) > limit
        shown = page[: limit - count] if limit else page
        count += len(shown)
        if as_json:
            items.print(shown)
        else:
            rows.print([row(one) for one in shown])
    for text in listing.warnings:
        note(text)
    if as_json:
        items.end()
    elif not count:
        note(nothing)
    elif more:
        note(f"these are the first {count}; `--all` prints all, `-n` says how many")
    return 0


def print_facts(facts: Mapping[str, object]) -> None:
    """Print names and values in two columns; those that are `None` are left out."""
    if not sys.stdout.isatty():
        for name, value in facts.items():
            if value is not None:
                print(f"{name}\t{_flat(value)}")
        return
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

    text = _text(value)
    word = text.split(" ")[0] if name.lower() == "state" else ""
    return Text(text, style=STATE_STYLES.get(word, ""))


def _text(value: object) -> str:
    return "" if value is None else plain(value)


def _flat(value: object) -> str:
    """Return a value that neither ends a line nor begins another column."""
    return _text(value).replace("\n", "⏎").replace("\t", " ")


def line_of(document: object) -> str:
    """Return one document as a line of JSON that steers no terminal, to which a pipe may lead."""
    return escaped_in_json(msgspec.json.encode(document).decode())


def _console() -> "Console":
    from rich.console import Console  # noqa: PLC0415

    return Console()


def print_plan(document: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the statement and the database's plan for it."""
    if as_json:
        print_json(document)
        return
    print(plain(document["sql"]))
    print()
    for line in document["plan"]:
        print(plain(line))
