"""A spawner that does not run any more, though its jobs do.

It is the spawner that stops jobs which nobody renews (`worker/spawner/fence.py`). One that is
stopped itself does not: then its agent kills it, before others may get its jobs. What it started
ends with it, or is found by its mark.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL
from typing import Final

from weft.plugins.runners.spawner.start import SpawnerFiles, spawner_pid
from weft.telemetry.log import log
from weft.wire.processes import end_process

_LOOK_S: Final = 0.5
"""In this time whoever is spoken to gets a processor, however busy the host is."""
_UNKNOWN_S: Final = 3.0
"""How long a spawner may be silent whose jobs an earlier agent has renewed."""


class Guard:
    """Kills the spawner of these files if it does not run when its permission ends."""

    def __init__(self, files: SpawnerFiles, speak: Callable[[], bool]) -> None:
        """`speak()`: send the spawner something; False: there is no connection."""
        self._files = files
        self._speak = speak
        self._looking: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Look soon, unless it is known when."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(_UNKNOWN_S))

    def renew(self, until_ns: int) -> None:
        """Look when jobs may run no longer, by `CLOCK_BOOTTIME`; 0: never."""
        self.stop()
        if until_ns:
            left_ns = until_ns - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            self._looking = asyncio.create_task(self._look(left_ns / 1e9 - _LOOK_S))

    def stop(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()

    async def _look(self, after_s: float) -> None:
        await asyncio.sleep(after_s)
        pid = spawner_pid(self._files)
        before = _turns_of(pid)
        if pid is None or before is None or not self._speak():
            return
        await asyncio.sleep(_LOOK_S)
        if _turns_of(pid) == before:
            log.warning("worker.spawner_stands_still", spawner_pid=pid)
            end_process(pid, {SIGKILL: 0.0}, is_meant=lambda pid: spawner_pid(self._files) == pid)


def _turns_of(pid: int | None) -> int | None:
    """Return how often a process got a processor; None: it is not there."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    return sum(int(line.split()[1]) for line in lines if "ctxt_switches:" in line)
