"""The clock that limits how long jobs may run without contact to the database.

Unlike `CLOCK_MONOTONIC` it goes on while the host is suspended, as the database's clock does: jobs
may be given to others meanwhile.
"""

import ctypes
import os
import time

_NS = 1_000_000_000
_SOON_NS = 10_000_000
_libc = ctypes.CDLL(None, use_errno=True)


def now_ns() -> int:
    """Return the time of `CLOCK_BOOTTIME`."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def suspended_ns() -> int:
    """Return how long this host has been suspended since it booted."""
    return now_ns() - time.monotonic_ns()


class _Times(ctypes.Structure):
    """`struct itimerspec`."""

    _names = ("interval_s", "interval_ns", "due_s", "due_ns")
    _fields_ = tuple(zip(_names, [ctypes.c_long] * 4, strict=True))


class BoottimeTimer:
    """A timer whose `fd` becomes readable when it is due: after a suspension at once.

    Python has no timerfd before 3.13.
    """

    def __init__(self) -> None:
        self.fd: int = _checked(_libc.timerfd_create(time.CLOCK_BOOTTIME, os.O_CLOEXEC))

    def set(self, due_ns: int) -> None:
        """Become due once, at a time of `now_ns`; forget what was set before."""
        now = 0
        while now_ns() - now > _SOON_NS:  # again if it was stopped or suspended in between
            now = now_ns()
            self._set(max(1, due_ns - now))

    def stop(self) -> None:
        """Forget what was set; `fd` is not readable any more."""
        self._set(0)

    def close(self) -> None:
        """Close `fd`."""
        os.close(self.fd)

    def _set(self, in_ns: int) -> None:
        # From now: libfaketime turns a time that a timer is set to, whatever its clock.
        times = _Times(0, 0, *divmod(in_ns, _NS))
        _checked(_libc.timerfd_settime(self.fd, 0, ctypes.byref(times), None))


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
