"""Watch an event loop: for how long it stood, and what held it up."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from pathlib import PurePath
from traceback import extract_stack
from typing import Final

from weft.telemetry.log import log
from weft.telemetry.metrics import LOOP_STOOD_SECONDS

LIMIT_S: Final = 0.5
"""A loop that turns no more often serves others late."""
RESTS_AFTER_S: Final = 10.0
"""Without anything to do for this time nobody watches, nor wakes to watch."""
LOGGED_S: Final = 10.0
"""At least this time is between two lines of the log; the metric has them all."""
FRAMES: Final = 8
Told = Callable[[float, str], None]
Clock = Callable[[], float]


async def watch_loop(
    limit_s: float = LIMIT_S,
    told: Told | None = None,
    clock: Clock = time.monotonic,
    *,
    asked: asyncio.Event | None = None,
    rests_after_s: float = RESTS_AFTER_S,
) -> None:
    """Tell each time for which the loop of the caller stood longer than this, with the innermost
    frames of what held it up: by `told`, or in the log and the metric. Run it beside a server.
    `clock`: `process_time` counts what this process did meanwhile, and no others of the machine.
    `asked`: is set for whatever there is to do, and cleared here; at rest nothing is watched.
    None: the loop is always watched.
    """
    watch = _Watch(threading.get_ident(), limit_s, clock)
    thread = threading.Thread(target=watch.run, name="weft-loop-watch", daemon=True)
    thread.start()
    logged_at, rests_at = -LOGGED_S, time.monotonic() + rests_after_s
    try:
        while True:
            if asked is not None:
                if not asked.is_set() and time.monotonic() >= rests_at:
                    watch.rest()
                    await asked.wait()
                if asked.is_set():
                    asked.clear()
                    rests_at = time.monotonic() + rests_after_s
            watch.frames = ""
            began = watch.begin()
            await asyncio.sleep(limit_s / 2)
            stood_s = clock() - began - limit_s / 2
            if stood_s < limit_s:
                continue
            if told is not None:
                told(stood_s, watch.frames)
                continue
            LOOP_STOOD_SECONDS.observe(stood_s)
            if began - logged_at >= LOGGED_S:
                logged_at = began
                log.warning("api.loop_stood", ms=round(stood_s * 1000), frames=watch.frames)
    finally:
        watch.end()


class _Watch:
    """A thread that looks at what another one does while that does not turn."""

    def __init__(self, ident: int, limit_s: float, clock: Clock) -> None:
        self.frames = ""
        self._beat = clock()
        self._is_watching = threading.Event()
        self._is_over = threading.Event()
        self._ident = ident
        self._limit_s = limit_s
        self._clock = clock

    def begin(self) -> float:
        """Note that the loop turns now, and return when that is."""
        self._beat = self._clock()
        self._is_watching.set()
        return self._beat

    def rest(self) -> None:
        """Look at nothing until the loop begins again."""
        self._is_watching.clear()

    def end(self) -> None:
        """Let the thread end."""
        self._is_over.set()
        self._is_watching.set()

    def run(self) -> None:
        seen = 0.0
        while self._is_watching.wait() and not self._is_over.wait(self._limit_s / 2):
            beat = self._beat
            if beat != seen and self._clock() - beat > self._limit_s:
                seen = beat
                self.frames = _frames_of(self._ident)


def _frames_of(ident: int) -> str:
    """Return the innermost frames of a thread, the innermost first."""
    frame = sys._current_frames().get(ident)  # noqa: SLF001 (there is no other way)
    stack = extract_stack(frame)[-FRAMES:] if frame else []
    shown = (f"{one.name} ({PurePath(one.filename).name}:{one.lineno})" for one in reversed(stack))
    return " < ".join(shown)
