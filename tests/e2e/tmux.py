"""A terminal of a given size with a shell in it: keys are typed, and its screen is read."""

import functools
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

WITHIN_S = 60
PAUSE_S = 0.05
_PAUSE = threading.Event()
"""Never set: nobody tells when a screen changes."""
INSTALL = Path(__file__).parents[2] / "tools" / "debian_program.sh"


def program(name: str, package: str | None = None) -> str:
    """Return the path of a program of the distribution; skip the test where there is none."""
    path, reason = _installed(name, package or name)
    return path or pytest.skip(reason)


@functools.cache
def _installed(name: str, package: str) -> tuple[str, str]:
    done = subprocess.run([INSTALL, name, package], check=False, capture_output=True, text=True)
    return done.stdout.strip(), done.stderr.strip()


@dataclass(frozen=True)
class Tmux:
    """One terminal. Its size can change."""

    command: Sequence[str]

    def _do(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self.command, *arguments], check=True, capture_output=True, timeout=30
        )
        return done.stdout.decode()

    def screen(self) -> list[str]:
        """Return the lines that are shown."""
        return self._do("capture-pane", "-p").split("\n")

    def type(self, text: str) -> None:
        """Type a text."""
        self._do("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Press keys with names: `Enter`, `C-c`."""
        self._do("send-keys", *keys)

    def press_until(self, key: str, *texts: str, gone: str = "") -> list[str]:
        """Press a key and wait for what it leads to, as `until` does."""
        self.press(key)
        return self.until(*texts, gone=gone)

    def until(self, *texts: str, gone: str = "") -> list[str]:
        """Wait until all of these are on the screen and `gone` is not; return its lines."""
        deadline = time.monotonic() + WITHIN_S
        while True:
            lines = self.screen()
            shown = "\n".join(lines)
            if all(text in shown for text in texts) and not (gone and gone in shown):
                return lines
            assert time.monotonic() < deadline, (texts, gone, lines)
            _PAUSE.wait(PAUSE_S)

    def resize(self, columns: int, lines: int) -> None:
        """Change the size."""
        self._do("resize-window", "-x", str(columns), "-y", str(lines))


@contextmanager
def on_tmux(
    folder: Path, environment: Mapping[str, str], *, columns: int, lines: int, shell: str = "bash"
) -> Iterator[Tmux]:
    """Start a shell on a terminal of its own; its server ends afterwards."""
    words = {"bash": "bash --norc --noprofile", "zsh": "zsh -f", "fish": "fish -N"}[shell]
    command = [program("tmux"), "-S", str(folder / "tmux"), "-f", "/dev/null"]
    plain = {**environment, "TERM": "screen"}
    for name in ("COLUMNS", "LINES", "TMUX"):
        plain.pop(name, None)
    subprocess.run(
        [*command, "new-session", "-d", "-x", str(columns), "-y", str(lines), words],
        check=True,
        env=plain,
        timeout=30,
    )
    try:
        yield Tmux(command)
    finally:
        subprocess.run([*command, "kill-server"], check=False, timeout=30)


def words_of(command: Sequence[str]) -> str:
    """Return a command as a shell reads it."""
    return shlex.join(command)
