"""Processes of a home that outlived their supervisor, found through `/proc`.

A process belongs to a home if it was started as `python -m weft.…` with that `WEFT_HOME`. Only
whoever holds the lock of the home may end them.
"""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from signal import SIGKILL

from weft.run.role_process import RoleProcess
from weft.telemetry.log import log
from weft.wire.processes import end_process

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
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    found = [pid for pid in pids if pid != os.getpid() and is_ours(pid)]
    for pid in found:
        end_process(pid, dict.fromkeys(signals, _EACH_S), is_meant=is_ours)
    return found


def _is_ours(
    pid: int, *, home: Path, modules: set[bytes], word: bytes | None, variable: bytes
) -> bool:
    """Say whether a process runs one of these modules for this home, with `word` as argument and
    a variable that begins so.
    """
    process = Path(f"/proc/{pid}")
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
        if not any(words[i] == b"-m" and words[i + 1] in modules for i in range(len(words) - 1)):
            return False
        if word is not None and word not in words:
            return False
        variables = (process / "environ").read_bytes().split(b"\0")
    except OSError:  # it has gone, or is not ours
        return False
    is_marked = any(one.startswith(variable) for one in variables)
    return is_marked and b"WEFT_HOME=" + os.fsencode(home) in variables


# Its later writes are refused by their epoch in any case; ended here, the lock comes free.

LOOKS = 2
"""Looks in a row that must find it asleep: a user may stop it for a moment to inspect it."""


async def end_sleepers(roles: Sequence[RoleProcess], *, every_s: float) -> None:
    """Look at the roles now and then and kill those that sleep; until cancelled.

    They are started again as after any death.
    """
    seen: dict[int, int] = {}
    while True:
        await asyncio.sleep(every_s)
        asleep = {
            role.pid: role for role in roles if role.pid is not None and is_stopped(role.pid)
        }
        seen = {pid: seen.get(pid, 0) + 1 for pid in asleep}
        for pid, role in asleep.items():
            if seen[pid] >= LOOKS:
                log.warning("up.role_asleep", started=role.name, started_pid=pid)
                role.send(signal.SIGKILL)


def is_stopped(pid: int) -> bool:
    """Say whether a process was stopped by a signal. Source: proc_pid_stat(5), state `T`."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    # The name before it, in parentheses, may hold anything.
    return stat.rpartition(")")[2].split()[0] == "T"


def kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill a process with all of its group, unless it has ended: then its number may be that of
    somebody else's group.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, SIGKILL)
