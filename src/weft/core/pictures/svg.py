"""Parts of pictures as SVG. Texts go into elements of a tree, which are escaped when it is
written, so that no text of others can be more than text. And how pictures look: one style sheet
for pages and for files that stand alone.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from weft.core.text.texts import harmless


def style_of(name: str) -> str:
    """Return the style sheet of `pictures`, or that of those which stand `alone`: the colours that
    a page brings itself.
    """
    return files(__package__).joinpath(f"{name}.css").read_text(encoding="utf-8")


MARKS: Final[Mapping[str, str]] = {
    "success": "M1 6 L4.5 9.5 L11 2.5",
    "failed": "M2 2 L10 10 M10 2 L2 10",
    "error": "M6 1 V7 M6 10.5 V11",
    "cancelled": "M2 6 A4 4 0 1 1 10 6 A4 4 0 1 1 2 6 M3 9 L9 3",
    "running": "M3 1.5 L10 6 L3 10.5 Z",
    "creating": "M6 1 V11 M1 6 H11",
    "queued": "M1 3 H11 M1 6 H11 M1 9 H11",
    "ready": "M3 1 H9 L6 6 L9 11 H3 L6 6 Z",
    "blocked": "M4 2 V10 M8 2 V10",
    "pending": "M2 6 H2.1 M6 6 H6.1 M10 6 H10.1",
}
"""A shape for each state, 12 wide and high, so that colours need not be told apart."""
CHAR_WIDTH: Final = 6.6


def new_picture(width: float, height: float, title: str) -> Element:
    """Return an empty picture."""
    return Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "picture",
            "viewBox": f"0 0 {number(width)} {number(height)}",
            "width": number(width),
            "height": number(height),
            "role": "group",
            "aria-label": harmless(title),
        },
    )


def add(
    parent: Element, tag: str, class_: str | None = None, **attributes: float | str
) -> Element:
    """Add an element. Attributes whose name has a hyphen are written with `_`."""
    found = {
        name.rstrip("_").replace("_", "-"): value if isinstance(value, str) else number(value)
        for name, value in attributes.items()
    }
    return SubElement(parent, tag, {**({"class": class_} if class_ else {}), **found})


def add_text(
    parent: Element, text: str, x: float, y: float, class_: str = "", *, anchor: str = "start"
) -> None:
    """Add a text."""
    found = add(parent, "text", class_ or None, x=x, y=y, text_anchor=anchor)
    found.text = harmless(text)


def add_text_within(
    parent: Element, text: str, room: float, x: float, y: float, class_: str = ""
) -> None:
    """Add as much of a text as fits; it stays in its room, whatever letters a reader has."""
    shown = cut(text, room)
    add_text(parent, shown, x, y, class_)
    if shown != text:
        parent[-1].attrib |= {"textLength": number(room), "lengthAdjust": "spacingAndGlyphs"}


def add_mark(parent: Element, state: str, x: float, y: float) -> None:
    """Add the shape of a state."""
    add(parent, "path", "mark", d=MARKS[state], transform=f"translate({number(x)} {number(y)})")


def number(value: float) -> str:
    """Write a number with at most one decimal place."""
    return f"{value:.1f}".removesuffix(".0")


def cut(text: str, width: float) -> str:
    """Return a text that fits about this width."""
    room = max(int(width / CHAR_WIDTH), 1)
    return text if len(text) <= room else f"{text[: room - 1]}…"


def written(svg: Element, *, alone: bool) -> str:
    """Return the picture as text. `alone`: for a file of its own, with its colours."""
    if alone:
        style = Element("style")
        style.text = style_of("alone") + style_of("pictures")
        svg.insert(0, style)
    return tostring(svg, encoding="unicode")


def page_of(svg: str, title: str) -> str:
    """Return a page that needs no other file."""
    head = Element("head")
    add(head, "meta", charset="utf-8")
    add(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    add(head, "title").text = harmless(title)
    add(head, "style").text = style_of("alone") + style_of("pictures")
    heading = Element("h1")
    heading.text = harmless(title)
    parts = [tostring(one, encoding="unicode", method="html") for one in (head, heading)]
    return (
        f'<!doctype html>\n<html lang="en">{parts[0]}'
        f'<body class="picture">{parts[1]}\n{svg}\n</body></html>\n'
    )
