"""Keys as a terminal sends them, and the terminal while they are read one by one."""

import asyncio
import codecs
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STDIN = 0
ESCAPE_WAIT_S = 0.05
"""A lone Escape is a key if nothing follows within this time; else it begins another key."""
READ_BYTES = 1024
_NAMED = {
    "\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down",
    "\x1b[5~": "page up", "\x1b[6~": "page down",
    "\x1b[H": "home", "\x1b[F": "end", "\x1bOH": "home", "\x1bOF": "end",
    "\x1b[1~": "home", "\x1b[4~": "end",
    "\r": "enter", "\n": "enter", "\x7f": "backspace", "\x08": "backspace",
    "\x1b": "escape", "\x15": "clear",
}  # fmt: skip
_KEY = re.compile("\x1b\\[[0-9;?<]*[ -/]*[@-~]|\x1bO.|.", re.DOTALL)
_BEGUN = re.compile("\x1b(\\[[0-9;?<]*[ -/]*|O)?\\Z")
SEQUENCE_CHARS_MAX = 32


class KeyParser:
    """Turns what a terminal sends into names of keys: `up`, `enter`, `q`. Others are left out."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""

    @property
    def is_mid_key(self) -> bool:
        """Say whether more may belong to the last key."""
        return bool(self._begun)

    def feed(self, data: bytes) -> list[str]:
        """Return the next keys."""
        text = self._begun + self._decoder.decode(data)
        begun = _BEGUN.search(text)
        self._begun = begun[0] if begun and len(begun[0]) < SEQUENCE_CHARS_MAX else ""
        return self._named(text.removesuffix(self._begun))

    def flush(self) -> list[str]:
        """Return the key that was waited with: nothing followed it."""
        begun, self._begun = self._begun, ""
        return self._named(begun)

    @staticmethod
    def _named(text: str) -> list[str]:
        found = (_NAMED.get(key, key) for key in _KEY.findall(text))
        return [key for key in found if key.isprintable()]


@contextmanager
def reading_keys(on_key: Callable[[str], object], on_end: Callable[[], object]) -> Iterator[None]:
    """Call `on_key` for each key, and `on_end` when no more can come. The terminal is restored
    afterwards. Ctrl-C stays a signal; Ctrl-Z would leave the screen behind, and does nothing.
    """
    if not sys.stdin.isatty():
        yield
        return
    import termios  # noqa: PLC0415 (not on every system)
    import tty  # noqa: PLC0415

    loop, keys = asyncio.get_running_loop(), KeyParser()

    timers: list[asyncio.TimerHandle] = []

    def flush() -> None:
        for key in keys.flush():
            on_key(key)

    def stop_timers() -> None:
        while timers:
            timers.pop().cancel()

    def ready() -> None:
        stop_timers()
        data = os.read(STDIN, READ_BYTES)
        if not data:
            loop.remove_reader(STDIN)
            on_end()
        for key in keys.feed(data):
            on_key(key)
        if keys.is_mid_key:
            timers.append(loop.call_later(ESCAPE_WAIT_S, flush))

    before = termios.tcgetattr(STDIN)
    tty.setcbreak(STDIN)
    mode = termios.tcgetattr(STDIN)
    mode[6][termios.VSUSP] = b"\0"
    termios.tcsetattr(STDIN, termios.TCSANOW, mode)
    loop.add_reader(STDIN, ready)
    try:
        yield
    finally:
        stop_timers()
        loop.remove_reader(STDIN)
        termios.tcsetattr(STDIN, termios.TCSADRAIN, before)
