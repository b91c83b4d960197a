"""Drivers that were stopped by a signal: the leader among them would keep the lock for ever.

Its later writes are refused by their epoch in any case; ended here, the lock comes free.
"""

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path

from weft.run.role_process import RoleProcess
from weft.telemetry.log import log

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
