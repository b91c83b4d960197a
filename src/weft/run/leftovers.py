"""Processes of a home that outlived their supervisor, found through `/proc`.

A process belongs to a home if it was started as `python -m weft.…` with that `WEFT_HOME`. Only
whoever holds the lock of the home may end them.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

from weft.store.embedded.leftovers import end_process

ROLE_MODULES = ("weft.run.api", "weft.run.driver", "weft.run.worker")
SPAWNER_MODULE = "weft.worker.spawner"

_KILL = (signal.SIGKILL,)
_ASK_THEN_KILL = (signal.SIGTERM, signal.SIGKILL)
_EACH_S = 2.0


def end_roles(home: Path) -> list[int]:
    """End the processes left of api, driver and agent; return their pids.

    By SIGKILL, which they must survive in any case. The spawner and its jobs live on: the next
    agent adopts them.
    """
    return _end(home, ROLE_MODULES, _KILL)


def end_spawners(home: Path) -> list[int]:
    """End the spawners that are left; their jobs end with them."""
    return _end(home, (SPAWNER_MODULE,), _ASK_THEN_KILL)


def _end(home: Path, modules: tuple[str, ...], signals: tuple[signal.Signals, ...]) -> list[int]:
    found = list(_processes(home, modules))
    for pid in found:
        end_process(pid, signals, each_s=_EACH_S)
    return found


def _processes(home: Path, modules: tuple[str, ...]) -> Iterator[int]:
    names = {os.fsencode(module) for module in modules}
    for entry in Path("/proc").iterdir():
        if (
            entry.name.isdigit()
            and int(entry.name) != os.getpid()
            and _is_ours(entry, home, names)
        ):
            yield int(entry.name)


def _is_ours(process: Path, home: Path, modules: set[bytes]) -> bool:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
        if not any(words[i] == b"-m" and words[i + 1] in modules for i in range(len(words) - 1)):
            return False
        variables = (process / "environ").read_bytes().split(b"\0")
    except OSError:  # it has gone, or is not ours
        return False
    return b"WEFT_HOME=" + os.fsencode(home) in variables
