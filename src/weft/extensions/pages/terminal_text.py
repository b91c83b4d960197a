"""Output of jobs as HTML: its colours as classes, and nothing else of it but text.

What comes out holds `<span class="…">` with the names of `_class_of`, `</span>`, and escaped text
without control characters.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

from weft.core.text.escapes import ESCAPE, begun_sequence

_CODES_MAX: Final = 32
"""Of one sequence; further ones are passed over."""
_FLAGS: Final = {1: "bold", 2: "dim", 3: "italic", 4: "under", 7: "inverse", 9: "strike"}
_ENDS: Final = {0: tuple(_FLAGS), 22: (1, 2), 23: (3,), 24: (4,), 27: (7,), 29: (9,)}
_COLOURS: Final = {
    base + one: (side, one + bright)
    for base, side, bright in (
        (30, "front", 0), (40, "back", 0), (90, "front", 8), (100, "back", 8),
    )
    for one in range(8)
} | {39: ("front", None), 49: ("back", None)}  # fmt: skip
_EXTENDED: Final = {38: "front", 48: "back"}
_OF_256, _OF_RGB = 5, 2
_STEPS: Final = (0, 95, 135, 175, 215, 255)
_PALETTE: Final = (
    *((128 * (n & 1), 128 * (n >> 1 & 1), 128 * (n >> 2)) for n in range(7)),
    (192, 192, 192),
    (128, 128, 128),
    *((255 * (n & 1), 255 * (n >> 1 & 1), 255 * (n >> 2)) for n in range(1, 8)),
    *((red, green, blue) for red in _STEPS for green in _STEPS for blue in _STEPS),
    *((8 + 10 * n,) * 3 for n in range(24)),
)
"""The 256 colours of terminals; the first 16 are those that we have."""
_N_OWN: Final = 16
_STATE: Final = re.compile(
    r"(?:f([0-9]{1,2}))?(?:b([0-9]{1,2}))?((?:t[123479])*)(?:_((?:[0-9a-f]{2}){1,70}))?"
)


@dataclass(frozen=True)
class Style:
    """How the text after a sequence looks."""

    front: int | None = None
    """One of 16 colours; None: the usual one."""
    back: int | None = None
    flags: tuple[int, ...] = ()

    def then(self, codes: str) -> "Style":
        """Return the style after a colour sequence with these codes. Colours of larger palettes
        become the nearest of 16; unknown codes change nothing.
        """
        style = self
        given = iter([int(one[:4] or 0) for one in re.split("[;:]", codes)[:_CODES_MAX]])
        for code in given:
            if code in _ENDS:
                left = tuple(flag for flag in style.flags if flag not in _ENDS[code])
                style = replace(style, flags=left) if code else Style()
            elif code in _FLAGS:
                style = replace(style, flags=tuple(sorted({*style.flags, code})))
            elif code in _EXTENDED:
                style = _coloured(style, _EXTENDED[code], _extended(given))
            elif code in _COLOURS:
                style = _coloured(style, *_COLOURS[code])
        return style

    @property
    def classes(self) -> str:
        """Return the classes of the span, or nothing."""
        names = [] if self.front is None else [f"a-f{self.front}"]
        names += [] if self.back is None else [f"a-b{self.back}"]
        return " ".join([*names, *(f"a-{_FLAGS[flag]}" for flag in self.flags)])


class TerminalText:
    """Turns one stream, which comes in pieces, into HTML. What may be the begin of a sequence or a
    character waits for its end.
    """

    def __init__(self, state: str = "") -> None:
        """`state`: what another one had reached. Raise `ValueError` if it is malformed."""
        match = _STATE.fullmatch(state)
        if match is None:
            raise ValueError(state)
        front, back = (None if one is None else int(one) % _N_OWN for one in match.group(1, 2))
        flags = tuple(sorted({int(one) for one in match[3].replace("t", " ").split()}))
        self._style = Style(front, back, flags)
        self._waiting = bytes.fromhex(match[4] or "")

    @property
    def state(self) -> str:
        """Return what it needs to go on elsewhere: style and what waits."""
        style = self._style
        front = "" if style.front is None else f"f{style.front}"
        back = "" if style.back is None else f"b{style.back}"
        waiting = f"_{self._waiting.hex()}" if self._waiting else ""
        return front + back + "".join(f"t{flag}" for flag in style.flags) + waiting

    def feed(self, data: bytes, *, is_last: bool = False) -> Markup:
        """Return the next piece."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(self._waiting + data, is_last)
        rest = "" if is_last else begun_sequence(text) or text[len(text.rstrip("\r")) :][:1]
        self._waiting = rest.encode() + decoder.getstate()[0]
        text = text.removesuffix(rest).replace("\r\n", "\n").replace("\r", "\n")
        found, at = [], 0
        for match in ESCAPE.finditer(text):
            found.append(self._span(text[at : match.start()]))
            at = match.end()
            if match["colour"] is not None:
                self._style = self._style.then(match["colour"])
            elif match["sequence"] is None:
                found.append(Markup("\ufffd"))
        found.append(self._span(text[at:]))
        return Markup("").join(found)

    def _span(self, text: str) -> Markup:
        classes = self._style.classes if text else ""
        if not classes:
            return escape(text)
        return Markup('<span class="{}">{}</span>').format(classes, text)


def terminal_html(data: bytes) -> Markup:
    r"""Return a whole output as HTML.

    >>> str(terminal_html(b"\x1b[31m<b>\x1b[0m\x1b[2J\a"))
    '<span class="a-f1">&lt;b&gt;</span>\ufffd'
    """
    return TerminalText().feed(data, is_last=True)


def _coloured(style: Style, side: str, colour: int | None) -> Style:
    if side == "front":
        return replace(style, front=colour)
    return replace(style, back=colour)


def _extended(codes: Iterator[int]) -> int | None:
    """Read a colour of a larger palette; return the nearest of 16."""
    kind = next(codes, None)
    if kind == _OF_256:
        number = next(codes, len(_PALETTE))
        return _nearest(*_PALETTE[number]) if number < len(_PALETTE) else None
    if kind == _OF_RGB:
        red, green, blue = (next(codes, 0) for _ in range(3))
        return _nearest(red, green, blue)
    return None


@lru_cache(maxsize=1024)
def _nearest(*wanted: int) -> int:
    def distance(number: int) -> int:
        return sum((a - b) ** 2 for a, b in zip(wanted, _PALETTE[number], strict=True))

    return min(range(_N_OWN), key=distance)
