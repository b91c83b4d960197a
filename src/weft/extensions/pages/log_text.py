"""The pieces of a log as HTML."""

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup, escape

from weft.core.text.amounts import size
from weft.extensions.pages.terminal_text import TerminalText
from weft.wire.log_format import CUT, CUT_BODY, STDERR, Piece

_CUT: Final = Markup('<span class="cut">[{} left out]</span>\n')
_STDERR: Final = Markup('<span class="err">{}</span>')


class LogText:
    """Both streams of an attempt, each with its own colours; what went to standard error is marked
    where both are shown.
    """

    def __init__(self, stdout: str = "", stderr: str = "", *, is_marked: bool = True) -> None:
        """`stdout`, `stderr`: what another one had reached. Raise `ValueError`."""
        self._stdout, self._stderr = TerminalText(stdout), TerminalText(stderr)
        self._is_marked = is_marked

    @property
    def state(self) -> str:
        """Return what both streams have reached."""
        return f"{self._stdout.state}.{self._stderr.state}"

    def feed(self, pieces: Iterable[Piece]) -> Markup:
        """Return the next pieces."""
        found = []
        for kind, _, data in pieces:
            if kind == CUT:
                _, n_bytes, _ = CUT_BODY.unpack(data)
                found.append(_CUT.format(escape(size(n_bytes) or "something")))
            elif kind == STDERR:
                text = self._stderr.feed(data)
                found.append(_STDERR.format(text) if self._is_marked and text else text)
            else:
                found.append(self._stdout.feed(data))
        return Markup("").join(found)

    def end(self) -> Markup:
        """Return what waited for more."""
        return self._stdout.feed(b"", is_last=True) + self._stderr.feed(b"", is_last=True)
