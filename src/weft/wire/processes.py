"""Begin free of what whoever starts us blocks and ignores; find processes of others, and end them,
never the wrong one.
"""

import os
import select
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


def reset_signals() -> None:
    """Block nothing, and let no child vanish before it is waited for. What a process starts
    inherits both, jobs too.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def all_pids() -> Sequence[int]:
    """Return every process of this host."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def parts_of(pid: int, name: str) -> Sequence[bytes]:
    """Return the arguments or variables of a process; one empty part if it is not there."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes().split(b"\0")
    except OSError:
        return [b""]


def end_process(
    pid: int, steps: Mapping[signal.Signals, float], *, is_meant: Callable[[int], bool]
) -> None:
    """Send signals one after the other until the process is gone; each has its seconds.

    `is_meant` is asked when the process is held: its id may have been given to another one since
    it was found.
    """
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    try:
        if not is_meant(pid):
            return
        for number, wait_s in steps.items():
            signal.pidfd_send_signal(handle, number)
            if poller.poll(wait_s * 1000):
                return
    except ProcessLookupError:
        return
    finally:
        os.close(handle)
