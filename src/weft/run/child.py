"""A role process that `weft up` started ends when its supervisor ends.

A supervisor that is killed can tell nobody. So each role asks the kernel for a SIGTERM at the
death of its parent. Asked here, in the child itself: code between fork and exec is not safe.
"""

import ctypes
import os
import signal

from weft.core.errors import WeftError
from weft.telemetry.log import log

SUPERVISOR_VARIABLE = "WEFT_SUPERVISOR_PID"
ROLE_VARIABLE = "WEFT_ROLE_NAME"
DRAINED = 10
"""Exit code of a supervised worker that was told to drain: do not start it again."""

_PR_SET_PDEATHSIG = 1


def end_with_supervisor() -> None:
    """Ask for SIGTERM when the supervisor dies; call this after the handler is installed.

    Does nothing in a process that `weft up` did not start.
    """
    supervisor = os.environ.get(SUPERVISOR_VARIABLE)
    if not supervisor:
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != int(supervisor):  # it died before the kernel knew
        os.kill(os.getpid(), signal.SIGTERM)


def wait_until_let_run() -> None:
    """Wait until the supervisor closes our standard input: roles load while the database starts.

    If it has died instead, `end_with_supervisor` finds that out.
    """
    if is_supervised():
        os.read(0, 1)


def is_supervised() -> bool:
    """Say whether `weft up` started this process."""
    return bool(os.environ.get(SUPERVISOR_VARIABLE))


def role_name(default: str) -> str:
    """Return the name under which this process is supervised, such as `driver-2`."""
    return os.environ.get(ROLE_VARIABLE) or default


def log_failure(error: WeftError) -> None:
    """Log why a role cannot go on, without a trace: this is not a defect."""
    log.error("role.failed", code=error.code, **error.told)
