"""Keys of `weft top` and what they change, without a terminal."""

import pytest
from rich.console import Console

from weft.cli.top.drawing import draw
from weft.cli.top.keys import KeyParser
from weft.cli.top.lists import BATCHES, log_lines, root
from weft.cli.top.state import Row, Screen, View


@pytest.mark.parametrize(
    ("pieces", "keys"),
    [
        ([b"jq"], ["j", "q"]),
        ([b"\x1b[A\x1bOB\x1b[5~\x1b[6~"], ["up", "down", "page up", "page down"]),
        # A sequence comes in two pieces over a slow line.
        ([b"\x1b", b"[A"], ["up"]),
        ([b"\x1b[", b"Bx"], ["down", "x"]),
        ([b"\x1b[1;5C\x1b[200~c"], ["c"]),
        (["ä".encode()[:1], "ä".encode()[1:]], ["ä"]),
        ([b"\r\x7f\x15\x00\x01"], ["enter", "backspace", "clear"]),
    ],
)
def test_sequences_are_keys(pieces: list[bytes], keys: list[str]) -> None:
    parser = KeyParser()

    assert [key for piece in pieces for key in parser.feed(piece)] == keys
    assert not parser.is_mid_key


def test_a_lone_escape_is_a_key_when_nothing_follows() -> None:
    parser = KeyParser()

    assert parser.feed(b"\x1b") == []
    assert parser.is_mid_key
    assert parser.flush() == ["escape"]


def rows(*names: str) -> list[Row]:
    return [Row(name, (name,) + ("",) * 8, {"name": name, "cost": len(name)}) for name in names]


def test_what_is_selected_stays_selected_when_rows_come_and_go() -> None:
    view = View(kind="batches", title="batches", columns=BATCHES)
    view.show(rows("a", "b", "c"))
    view.move(1, height=10)

    view.show(rows("new", "a", "b", "c"))
    kept = view.selected
    view.show(rows("new"))
    left = view.selected
    view.show([])

    assert kept is not None
    assert kept.name == "b"
    assert left is not None
    assert left.name == "new"
    assert view.selected is None


@pytest.mark.parametrize("size", [(1, 1), (10, 3), (40, 12), (80, 24), (160, 50)])
@pytest.mark.parametrize("kind", ["list", "text"])
def test_a_screen_is_never_larger_than_the_terminal(size: tuple[int, int], kind: str) -> None:
    width, height = size
    name = "[red]\u4e16\u754c" * 30
    view = root("1")
    view.show([Row(f"b{n}", (name,) * 9, {}) for n in range(100)])
    if kind == "text":
        view = View(kind="log", title=name, lines=[name * 10] * 100, is_loaded=True)
    screen = Screen([root("1"), view], outage=name)
    console = Console(width=width, height=height, force_terminal=True, color_system=None)
    screen.view.move(50, height=20)

    shown = console.render_lines(draw(screen, "http://x", width=width, height=height), pad=False)

    assert len(shown) <= height
    assert all(sum(part.cell_length for part in line) <= width for line in shown)


def test_an_output_cannot_steer_the_screen() -> None:
    data = b"\x1b]0;owned\x07\x1b[31mred\x1b[0m\n50%\r100%\r\n\x1b[2J\xe2\x80\xae\tx\xff\x9b"

    assert log_lines(data) == ["red", "100%", "\ufffd       x\ufffd\ufffd"]
    assert log_lines(b"cut here\nwhole\n", is_cut=True) == ["…", "whole"]
