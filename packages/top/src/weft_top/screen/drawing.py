"""The screen of `weft top`, drawn by rich: no line is wider, and no more are drawn, than it has.

All texts of others have been made harmless before they come here, and are drawn as they are:
rich's own markup is not read in a `Text`.
"""

import textwrap
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells
from rich.console import Group
from rich.table import Table
from rich.text import Text

from weft.cli.terminal.screen import GAP, STATE_STYLES, fit_columns, one_line, plain
from weft_top.screen.actions import action_help, action_hints
from weft_top.screen.lists import RIGHT, ROOTS, is_live
from weft_top.screen.state import Screen, View

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType

LINES_ABOVE = 2
LINES_BELOW_MAX = 8
"""Of a question or an error; else there is one."""
TEXT_CHARS_MAX = 2000
LINE_CHARS_MAX = 64 * 1024
INDENT = 2
HELP_INDENT = 15
ACTIONS = ""
NARROW = 60
"""Below this width the way to what is shown leaves out the other lists."""
HINTS: Mapping[str, tuple[str, ...]] = {
    "batches": ("enter opens", "w why", ACTIONS, "/ filter", "s sort"),
    "jobs": ("enter opens", "w why", ACTIONS, "/ filter", "s sort", "f states"),
    "workers": ("enter its jobs", ACTIONS, "/ filter", "s sort"),
    "incidents": ("enter its jobs", ACTIONS, "/ filter", "s sort"),
    "sources": ("enter its items", "/ filter", "s sort"),
    "items": ("enter opens", "/ filter"),
    "item": ("esc back",),
    "running": ("enter opens", "w why", ACTIONS, "/ filter"),
    "blocked": ("enter opens", "w why", ACTIONS, "/ filter"),
    "log": ("/ search", "n N next", "f follow", "w why", ACTIONS, "esc back"),
    "why": ("j k scroll", "esc back"),
    "help": ("j k scroll", "esc back"),
}
"""What the last line offers, the most useful first; in place of `ACTIONS` what the user may do."""
LAST_HINTS = ("? help", "q quit")
HELP = (
    ("1 2 3 4", "batches, workers, incidents, sources"),
    ("enter", "jobs of a batch, worker or incident; items of a source; output of a job"),
    ("esc", "back"),
    ("j k ↑ ↓", "one line down or up"),
    ("space, PgUp", "one page down, up"),
    ("g G", "first, last"),
    ("w", "why it waits, or how it ended"),
    ("/", "filter: batches and jobs by a query, such as state = failed"),
    ("f", "jobs: all, running, waiting, failed"),
    ("s S", "sort by the next column; the other way round"),
    ("/", "in an output: search a text"),
    ("n N", "the next match, the one before"),
    ("f", "follow the output while it grows, or stop"),
)
HELP_END = (("q, Ctrl-C", "leave"),)


def draw(screen: Screen, url: str, *, width: int, height: int) -> "RenderableType":
    """Return all lines of the screen, and note in it how many rows it has room for."""
    view = screen.view
    below = _below(screen, width, height)
    screen.height = max(1, height - LINES_ABOVE - len(below) - view.is_list)
    if not view.is_list and view.width != width:
        _break_lines(view, width)
    lines: list[RenderableType] = [_head(screen, url, width), _tabs(screen, width)]
    if view.is_list:
        lines.append(_table(view, width, screen.height))
        n_drawn = min(screen.height, len(view.rows) - view.offset)
        empty = [] if view.rows else [_cut(_said_of_nothing(view), width, style="dim")]
    else:
        at = view.scroll(screen.height)
        shown = view.lines[at : at + screen.height]
        lines += _text_lines(view, shown, at, width)
        n_drawn = len(shown)
        empty = [] if shown else [_cut(_said_of_nothing(view), width, style="dim")]
    lines += [*empty, *([Text()] * (screen.height - n_drawn - len(empty)))]
    if height <= LINES_ABOVE + len(below) + view.is_list:
        return Group(*[*lines[:LINES_ABOVE], *below][-height:])
    return Group(*lines, *below)


def help_lines(rights: Collection[str]) -> list[str]:
    """Return the keys, with what somebody with these rights may do."""
    rows = (*HELP, ("", ""), *action_help(rights), *HELP_END)
    return [f"{key:{HELP_INDENT}}{text}".rstrip() for key, text in rows]


def _break_lines(view: View, width: int) -> None:
    """Break the texts of a view so that they fit, and note where each begins."""
    parts = [_broken(text, view.kind, width) for text in view.texts]
    view.lines = [line for part in parts for line in part]
    view.begins = [0, *accumulate(map(len, parts))][: len(parts)]
    view.width = width


def _text_lines(view: View, shown: Sequence[str], at: int, width: int) -> "list[RenderableType]":
    """Return lines of a text, with what was sought marked, and most where the last step led."""
    lines = [_cut(line, width) for line in shown]
    pattern, match = view.search.pattern, view.search.at
    if pattern is not None:
        for line in lines:
            line.highlight_regex(pattern, "black on yellow")
    if match is not None and 0 <= (number := view.line_of(match) - at) < len(lines):
        lines[number].stylize("bold underline")
    return [*lines]


def _broken(text: str, kind: str, width: int) -> Sequence[str]:
    """Return a text as lines that are no wider than the screen: an output at any character, a
    sentence between words.
    """
    line = plain(text)[:LINE_CHARS_MAX]
    if len(line) <= width and cell_len(line) <= width:
        return [line]
    if kind == "log":
        return chop_cells(line, width)
    begin = HELP_INDENT if kind == "help" else len(line) - len(line.lstrip()) + INDENT
    parts = textwrap.wrap(line, width, subsequent_indent=" " * min(begin, width // 2))
    return [cell for part in parts for cell in chop_cells(part, width)]


def _cut(text: str, width: int, *, style: str = "") -> Text:
    """Return one line that is no wider than the screen."""
    line = Text(one_line(text, width=TEXT_CHARS_MAX), style=style, no_wrap=True, end="\n")
    line.truncate(width, overflow="ellipsis")
    return line


def _head(screen: Screen, url: str, width: int) -> Text:
    if screen.outage:
        return _cut(f"no answer: {screen.outage}; trying again", width, style="bold reverse red")
    line = Text.assemble(("weft ", "bold"), one_line(url), "   ", (screen.view.facts, "cyan"))
    line.no_wrap = True
    line.truncate(width, overflow="ellipsis")
    return line


def _tabs(screen: Screen, width: int) -> Text:
    """Return the lists, the open one marked, and the way to what is shown, which is cut before
    the marks behind it.
    """
    line = Text(no_wrap=True)
    for key, (title, _) in ROOTS.items():
        is_here = screen.views[0].kind == title
        if is_here or width >= NARROW or len(screen.views) == 1:
            line.append(f" {key}:{title} ", "reverse" if is_here else "dim")
    for view in screen.views[1:]:
        line.append(f" > {view.title}")
    view = screen.view
    found = [
        f"only {view.only}" if view.only else "",
        f"filter: {one_line(view.query, width=40)}" if view.query else "",
        f"sorted by {view.sort}" if view.sort else "",
        "reversed" if view.is_reversed else "",
        _follows(view),
    ]
    marks = Text("".join(f"  [{mark}]" for mark in found if mark), "yellow")
    line.truncate(max(0, width - marks.cell_len), overflow="ellipsis")
    line.append_text(marks)
    line.truncate(width, overflow="ellipsis")
    return line


def _follows(view: View) -> str:
    """Say whether an output that grows is shown as it grows."""
    if not is_live(view):
        return ""
    return "follows" if view.is_at_end else "stopped"


def _said_of_nothing(view: View) -> str:
    if not view.is_loaded:
        return "…"
    if view.query or view.only:
        return "nothing matches; / changes the filter"
    return {
        "batches": "no batches yet; `weft run -- date` creates one",
        "workers": "no workers; `weft worker` starts one",
        "incidents": "no incidents: no job waits for something that is broken",
        "sources": "no sources; `weft line apply` brings one",
        "log": "no output yet",
    }.get(view.kind, "nothing here")


def _table(view: View, width: int, height: int) -> Table:
    at = view.scroll(height)
    shown = view.rows[at : at + height]
    columns = _widths(view, width)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for name, room in columns.items():
        justify: JustifyMethod = "right" if name in RIGHT else "left"
        table.add_column(name, no_wrap=True, justify=justify, width=room, overflow="ellipsis")
    for index, row in enumerate(shown, at):
        cells = zip(view.columns.header, row.cells, strict=True)
        table.add_row(
            *(_cell(name, cell) for name, cell in cells if name in columns),
            style="reverse" if index == view.index else "",
        )
    return table


def _widths(view: View, width: int) -> dict[str, int]:
    header = view.columns.header
    cells = [header, *(row.cells for row in view.rows)]
    needs = {
        name: max(map(cell_len, column)) for name, *column in zip(header, *cells, strict=True)
    }
    fitted = fit_columns(needs, width, view.columns.spare)
    # A column that may not be left out is cut, or gone, on a screen that is too narrow for it.
    shown, left = {}, width
    for name, room in fitted.items():
        if left > 0:
            shown[name] = min(room, left)
            left -= shown[name] + GAP
    return shown


def _cell(name: str, cell: str) -> Text:
    style = STATE_STYLES.get(cell.partition(" ")[0], "") if name == "State" else ""
    return Text(cell, style=style)


def _below(screen: Screen, width: int, height: int) -> list[Text]:
    """Return the lines below: a question or a message as long as it is, if there is room."""
    if screen.prompt in {"filter", "search"}:
        room = max(1, width - len(f"{screen.prompt}: ") - 1)
        return [_cut(f"{screen.prompt}: {screen.typed[-room:]}▏", width, style="bold")]
    if screen.prompt == "confirm":
        text, style = f"{screen.question} [y/N]", "bold yellow"
    elif screen.message:
        text, style = screen.message, "bold red" if screen.is_wrong else "bold green"
    else:
        return [_cut(_hints(screen, width), width, style="dim")]
    parts = [part for line in text.split("\n") for part in _broken(line, "", width)]
    room = max(1, min(LINES_BELOW_MAX, height - LINES_ABOVE - 2))
    if len(parts) > room:  # a question ends with its answers
        parts = parts[-room:] if screen.prompt else parts[:room]
    return [_cut(part, width, style=style) for part in parts]


def _hints(screen: Screen, width: int) -> str:
    """Return the hints that there is room for; the last two, help and quit, in any case."""
    kind = screen.view.kind
    parts = [
        hint
        for name in HINTS[kind]
        for hint in (action_hints(kind, screen.rights) if name == ACTIONS else (name,))
    ]
    last = [hint for hint in LAST_HINTS if kind != "help" or hint != LAST_HINTS[0]]
    while parts and len("  ".join([*parts, *last])) > width:
        parts.pop()
    return "  ".join([*parts, *last])
