"""A program on a terminal, as a person sees and uses it."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

DEADLINE_S = 60.0
SCREEN = {"LINES": "24", "TERM": "xterm-256color"}


@dataclass
class Terminal:
    """One program; `shown` is all that it wrote to its terminal."""

    process: "subprocess.Popen[bytes]"
    master: int
    shown: str = ""
    _seen: int = field(default=0)

    def until(self, text: str) -> str:
        """Read until this text appears after what was returned before; return up to its end."""
        deadline = time.monotonic() + DEADLINE_S
        while (at := self.shown.find(text, self._seen)) < 0:
            assert self._read(deadline - time.monotonic()), f"no {text!r} in:\n{self.shown}"
        found = self.shown[self._seen : at + len(text)]
        self._seen = at + len(text)
        return found

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self.master, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def finish(self) -> int:
        """Read to the end; return the exit code."""
        deadline = time.monotonic() + DEADLINE_S
        while self._read(deadline - time.monotonic()):
            pass
        return self.process.wait(max(0.1, deadline - time.monotonic()))

    def _read(self, within_s: float) -> bool:
        if not select.select([self.master], [], [], max(0.0, within_s))[0]:
            return False
        try:
            piece = os.read(self.master, 65536)
        except OSError:  # how Linux tells that the other side was closed
            return False
        self.shown += piece.decode(errors="replace")
        return bool(piece)


def script_of(*words: str) -> str:
    """Return the script that is a command."""
    return f"import sys; sys.argv[1:] = {[*words]!r}; from weft.cli.app import main; main()"


@contextmanager
def on_terminal(
    script: str, environment: Mapping[str, str], *, columns: int = 100
) -> Iterator[Terminal]:
    """Run a Python script on a terminal of its own; kill what is left of it."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**environment, **SCREEN, "COLUMNS": str(columns)},
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)
