"""Brokers that are killed."""

import os
import signal

from worker.spawner_process import until_gone


def kill_group(pid: int) -> None:
    """Kill a broker, and wait until it is gone: one that is started meanwhile takes the old one
    for itself.
    """
    os.killpg(pid, signal.SIGKILL)
    until_gone(pid)
