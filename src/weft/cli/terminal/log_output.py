"""The output of jobs, maybe of others: as it is where a program reads it, and harmless on a
terminal.

There it keeps its colours; whatever else would steer the terminal is replaced: moves of the
cursor, titles, the clipboard, and marks that change the direction of writing.
"""

import codecs
import os

from weft.cli.terminal.raw_output import STDERR, STDOUT, write_all
from weft.core.text.escapes import begun_sequence, only_colours


class Harmless:
    """Replaces what would steer a terminal in a stream that comes in pieces."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""

    def filter(self, data: bytes, *, is_last: bool = False) -> bytes:
        """Return the next piece. The begin of a sequence waits for its end."""
        text = self._begun + self._decoder.decode(data, is_last)
        self._begun = "" if is_last else begun_sequence(text)
        return only_colours(text.removesuffix(self._begun)).encode()


class LogOutput:
    """Writes the output of jobs to our own streams."""

    def __init__(self) -> None:
        self._filters = {one: Harmless() for one in (STDOUT, STDERR) if os.isatty(one)}

    def write(self, descriptor: int, data: bytes) -> None:
        """Write the next piece of a stream. Raise what `write_all` raises."""
        harmless = self._filters.get(descriptor)
        write_all(descriptor, data if harmless is None else harmless.filter(data))

    def end(self) -> None:
        """Write what was waited with."""
        for descriptor, harmless in self._filters.items():
            write_all(descriptor, harmless.filter(b"", is_last=True))
