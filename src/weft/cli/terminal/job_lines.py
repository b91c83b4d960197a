"""The output of one job among others: its lines, each behind a prefix, or only some of them.

It is as it is where a program reads it, and harmless on a terminal. There it keeps its colours;
whatever else would steer the terminal is replaced: moves of the cursor, titles, the clipboard, and
marks that change the direction of writing.
"""

import codecs
import os

from weft.cli.terminal.grep import Grep
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


LINE_BYTES_MAX = 1024 * 1024
"""A longer line is broken, so that it need not be kept until it ends."""
_COLOURS = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)
_RESET = b"\x1b[0m"


class JobLines:
    """Writes whole lines, so that those of several jobs do not mix.

    On a terminal each job has a colour, what a line has coloured ends with it, and of what a line
    has overwritten by carriage returns, as progress bars do, only the last is shown: they would
    overwrite the name of the job, too.
    """

    def __init__(self, ref: str, number: int, *, grep: Grep | None = None) -> None:
        """`ref`: the name before each line; empty: none."""
        self._grep = grep
        self._output = LogOutput()
        self._terminals = {one for one in (STDOUT, STDERR) if ref and os.isatty(one)}
        self._rest = {STDOUT: b"", STDERR: b""}
        self._prefixes = {one: _prefix(ref, number, one) for one in self._rest}
        self.n_bytes = 0

    def write(self, descriptor: int, data: bytes) -> None:
        """Write the lines that are whole now. Raise what `write_all` raises."""
        self.n_bytes += len(data)
        *lines, rest = (self._rest[descriptor] + data).split(b"\n")
        if len(rest) > LINE_BYTES_MAX:
            lines, rest = [*lines, rest], b""
        self._rest[descriptor] = rest
        self._write_lines(descriptor, lines)

    def end(self) -> None:
        """Write the last lines, with a line break."""
        for descriptor, rest in self._rest.items():
            if rest:
                self._write_lines(descriptor, [rest])
            self._rest[descriptor] = b""
        self._output.end()

    def _write_lines(self, descriptor: int, lines: list[bytes]) -> None:
        chosen = self._grep.choose(lines) if self._grep and lines else lines
        if chosen:
            prefix = self._prefixes[descriptor]
            shown = map(_last_seen, chosen) if descriptor in self._terminals else chosen
            self._output.write(descriptor, b"".join(prefix + line + b"\n" for line in shown))


class PlainOutput(JobLines):
    """Writes every byte as it comes, and nothing beside."""

    def write(self, descriptor: int, data: bytes) -> None:
        self.n_bytes += len(data)
        self._output.write(descriptor, data)


def _last_seen(line: bytes) -> bytes:
    """Return what a terminal shows of a line in the end, without colours for the next one."""
    seen = line.rstrip(b"\r").rpartition(b"\r")[2]
    return seen + _RESET if b"\x1b" in seen else seen


def _prefix(ref: str, number: int, descriptor: int) -> bytes:
    if not ref:
        return b""
    if not os.isatty(descriptor) or not _has_colours():
        return f"{ref}: ".encode()
    return f"\x1b[{_COLOURS[number % len(_COLOURS)]}m{ref}:\x1b[0m ".encode()


def _has_colours() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in {"dumb", "unknown"}
