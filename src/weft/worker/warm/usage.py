"""The resources that calls use, as the kernel counts them."""

import os
import resource
from contextlib import suppress

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_PEAK_FALLS_BY = 1.1


class Usage:
    """CPU time of one call, memory of the process, and whether it has children."""

    def __init__(self) -> None:
        self._cpu_s = 0.0
        self._statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._peak_bytes = 0
        self._held_bytes = 0
        self._floor_bytes = 0
        """The lower bound of the peak: that of the process from which this one was started."""

    def begin(self) -> None:
        """Forget an older peak, if the process has shrunk since."""
        if self._peak_bytes > _PEAK_FALLS_BY * max(self._held_bytes, self._floor_bytes) > 0:
            with suppress(OSError):
                fd = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
                try:
                    os.write(fd, b"5")
                finally:
                    os.close(fd)
            own = resource.getrusage(resource.RUSAGE_SELF)
            self._floor_bytes = own.ru_maxrss * 1024

    def end(self) -> tuple[int, int, int, bool]:
        """Return CPU milliseconds since the last end, peak and present memory in bytes, and
        whether there are children.
        """
        own = resource.getrusage(resource.RUSAGE_SELF)
        waited_for = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = own.ru_utime + own.ru_stime + waited_for.ru_utime + waited_for.ru_stime
        cpu_ms = int((cpu_s - self._cpu_s) * 1000 + 0.5)
        self._cpu_s = cpu_s
        self._held_bytes = int(os.pread(self._statm, 128, 0).split()[1]) * _PAGE_BYTES
        self._peak_bytes = max(own.ru_maxrss * 1024, self._held_bytes)
        return cpu_ms, self._peak_bytes, self._held_bytes, _has_children()


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
