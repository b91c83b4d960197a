"""Processes of a home that outlived their supervisor, found through `/proc`.

A process belongs to a home if it was started as `python -m weft.…` with that `WEFT_HOME`. Only
whoever holds the lock of the home may end them.
"""

import os
import signal
from functools import partial
from pathlib import Path

from weft.wire.processes import all_pids, end_process, parts_of

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


def end_spawners(home: Path, lock: Path | None = None) -> list[int]:
    """End the spawners that are left; their jobs end with them. With `lock`: only the spawner of
    that lock, because other workers of the home may be alive.
    """
    return _end(
        home, (SPAWNER_MODULE,), _ASK_THEN_KILL, word=None if lock is None else os.fsencode(lock)
    )


def end_machines(home: Path) -> list[int]:
    """End the workers that the provider `process` started for this home, and their jobs."""
    from weft.plugins.providers.process import MARK  # noqa: PLC0415 (`weft down` does without)

    mark = os.fsencode(MARK) + b"="
    return [
        pid
        for module in ("weft.run.worker", SPAWNER_MODULE)
        for pid in _end(home, (module,), _ASK_THEN_KILL, variable=mark)
    ]


def _end(
    home: Path,
    modules: tuple[str, ...],
    signals: tuple[signal.Signals, ...],
    word: bytes | None = None,
    variable: bytes = b"",
) -> list[int]:
    is_ours = partial(
        _is_ours, home=home, modules=set(map(os.fsencode, modules)), word=word, variable=variable
    )
    found = [pid for pid in all_pids() if pid != os.getpid() and is_ours(pid)]
    for pid in found:
        end_process(pid, dict.fromkeys(signals, _EACH_S), is_meant=is_ours)
    return found


def _is_ours(
    pid: int, *, home: Path, modules: set[bytes], word: bytes | None, variable: bytes
) -> bool:
    """Say whether a process runs one of these modules for this home, with `word` as argument and
    a variable that begins so.
    """
    words = parts_of(pid, "cmdline")
    if not any(words[i] == b"-m" and words[i + 1] in modules for i in range(len(words) - 1)):
        return False
    if word is not None and word not in words:
        return False
    variables = parts_of(pid, "environ")
    is_marked = any(one.startswith(variable) for one in variables)
    return is_marked and b"WEFT_HOME=" + os.fsencode(home) in variables
