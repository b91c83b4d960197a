"""Begin free of what whoever starts us blocks and ignores; end processes of others, never the
wrong one.
"""

import os
import select
import signal
from collections.abc import Callable, Mapping


def reset_signals() -> None:
    """Block nothing, and let no child vanish before it is waited for. What a process starts
    inherits both, jobs too.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


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
