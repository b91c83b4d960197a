"""End processes that lead a group of their own."""

import asyncio
import os
from contextlib import suppress
from signal import SIGKILL


def kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill a process with all of its group, unless it has ended: then its number may be that of
    somebody else's group.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, SIGKILL)
