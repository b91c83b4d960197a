"""Find out whether the kernel killed a process for lack of memory; its exit does not say."""

from collections.abc import Callable

_SECOND_NS = 1_000_000_000


def count_oom_kills() -> int:
    """Return how many processes of this machine the kernel has killed for lack of memory."""
    try:
        with open("/proc/vmstat", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(b"oom_kill ")), 0)


class OomKills:
    """Match the kernel's count of kills with the processes that were killed.

    The count covers the whole machine, so a process that something else kills at the same moment
    may be mistaken for one. A kill without a match is forgotten after a second: it was not ours.
    """

    def __init__(self, count: Callable[[], int] = count_oom_kills) -> None:
        self._count = count
        self._seen = count()
        self._unmatched = 0
        self._forget_at_ns = 0

    def take_one(self, now_ns: int) -> bool:
        """Say whether a process that was just killed was killed for lack of memory."""
        count = self._count()
        if now_ns >= self._forget_at_ns:
            self._unmatched = 0
        if count > self._seen:
            self._unmatched += count - self._seen
            self._forget_at_ns = now_ns + _SECOND_NS
        self._seen = count
        if not self._unmatched:
            return False
        self._unmatched -= 1
        return True
