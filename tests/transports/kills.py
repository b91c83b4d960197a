"""Brokers that are killed."""

import os
import select
import signal
from typing import Final

END_S: Final = 30


def kill_group(pid: int) -> None:
    """Kill a broker, and wait until it is gone: one that is started meanwhile takes the old one
    for itself.
    """
    ends = os.pidfd_open(pid)
    try:
        os.killpg(pid, signal.SIGKILL)
        assert select.select([ends], [], [], END_S)[0], f"{pid} still runs"
    finally:
        os.close(ends)
