"""A command of the command line that runs while weft is attacked."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from faults.waiting import PATIENCE_S
from up.weft_up import WEFT


class Command:
    """One process, and what it has printed so far."""

    def __init__(self, home: Path, *words: str, stdin: IO[bytes] | int) -> None:
        self.process = subprocess.Popen(
            [WEFT, *words],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "WEFT_HOME": str(home)},
        )
        self.lines: list[bytes] = []
        self.said: list[bytes] = []
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._threads = [
            threading.Thread(target=self._collect, args=[stream, lines], daemon=True)
            for stream, lines in (
                (self.process.stdout, self.lines),
                (self.process.stderr, self.said),
            )
        ]
        for thread in self._threads:
            thread.start()

    def _collect(self, stream: IO[bytes], lines: list[bytes]) -> None:
        with stream:
            for line in stream:
                lines.append(line)  # noqa: PERF402 (others look at it meanwhile)

    def finish(self) -> int:
        """Wait for its end; return the exit code."""
        code = self.process.wait(PATIENCE_S)
        for thread in self._threads:
            thread.join()
        return code


@contextmanager
def started(
    home: Path, *words: str, stdin: IO[bytes] | int = subprocess.DEVNULL
) -> Iterator[Command]:
    """Start a command; at the end of the test it is gone."""
    command = Command(home, *words, stdin=stdin)
    try:
        yield command
    finally:
        command.process.kill()
        command.process.wait()
