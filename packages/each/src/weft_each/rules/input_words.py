"""Input cut into words, with the rules of xargs: the pure part of `weft each --xargs`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from weft_each.rules.input_lines import LINE_BYTES_MAX

_BETWEEN: Final = re.compile(rb"[ \t\n\v\f\r]*")
_QUOTED: Final = re.compile(rb"'([^'\n]*)'|\"([^\"\n]*)\"|\\([\s\S])")


class WordSplitter:
    """Cut a stream of bytes into words, wherever it is cut in pieces.

    Words end at blanks and newlines; quotes keep blanks within a word, a backslash keeps the next
    character. A word has the number of its line: lines without words do not count, and one that
    ends with a blank goes on in the next.
    """

    def __init__(self, *, whole_lines: bool = False) -> None:
        """`whole_lines`: words end only at newlines, as with `xargs -I`."""
        ends = rb"\n" if whole_lines else rb" \t\n"
        plain = rb"[^" + ends + rb"'\"\\]+"
        self._word = re.compile(rb"(?:" + plain + rb"|" + _QUOTED.pattern + rb")*")
        self._rest = b""
        self._line = 1
        self.wrong: str | None = None
        """Why nothing more can be read."""

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Take what was read; return the words that are whole, with the numbers of their lines."""
        self._rest += data
        found = self._cut(is_end=False)
        if len(self._rest) > LINE_BYTES_MAX:
            self.wrong = self.wrong or f"a word has more than {LINE_BYTES_MAX} bytes"
        return found

    def finish(self) -> list[tuple[int, bytes]]:
        """Return the word that ends with the input."""
        return self._cut(is_end=True)

    def _cut(self, *, is_end: bool) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []
        text, start = self._rest, 0
        while self.wrong is None:
            start = _end_of(_BETWEEN, text, start)
            end = _end_of(self._word, text, start)
            after = text[end : end + 1]
            if after in {b"'", b'"'} and (is_end or b"\n" in text[end:]):
                self.wrong = f"a quote ({after.decode()}) has no partner on its line"
            elif after in {b"", b"'", b'"', b"\\"} and not is_end:
                break  # the word may go on
            else:
                word = _QUOTED.sub(rb"\1\2\3", text[start:end])
                if word or after not in {b"", b"\\"}:  # xargs sees no empty one at the end
                    found.append((self._line, word))
                if not after or after == b"\\":
                    start = len(text)
                    break
                self._line += after == b"\n"
                start = end
        self._rest = text[start:]
        return found


def _end_of(pattern: re.Pattern[bytes], text: bytes, start: int) -> int:
    match = pattern.match(text, start)
    return start if match is None else match.end()


@dataclass(frozen=True)
class WordTemplate:
    """A command as xargs completes it: with the words at its end, or one in place of a text."""

    arguments: Sequence[str]
    whole: str | None = None
    has_slot: ClassVar[bool] = False

    def render(self, values: Sequence[str], _number: int = 0, _slot: int = 1) -> list[str]:
        """Return the command of one job. The program's own name is never replaced."""
        program, *others = self.arguments
        if self.whole is None:
            return [program, *others, *values]
        return [program, *(word.replace(self.whole, values[0]) for word in others)]
