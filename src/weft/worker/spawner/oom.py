"""Whether the kernel killed a process because memory was used up, which its end does not tell."""

from collections.abc import Callable

_SECOND_NS = 1_000_000_000


def count_oom_kills() -> int:
    """Return how many processes the kernel has killed for want of memory, on this machine."""
    try:
        with open("/proc/vmstat", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(b"oom_kill ")), 0)


class OomKills:
    """Matches kills that the kernel counted with processes that were killed.

    The count is the machine's, so a process that somebody else kills at the same moment may be
    taken for one. A kill that matched nobody is forgotten after a second: it was not ours.
    """

    def __init__(self, count: Callable[[], int] = count_oom_kills) -> None:
        self._count = count
        self._seen = count()
        self._unmatched = 0
        self._forget_at_ns = 0

    def take_one(self, now_ns: int) -> bool:
        """Say whether a process that has just been killed was killed for want of memory."""
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
