"""Ctrl-C while a program waits for jobs."""

import sys
from collections.abc import Callable

CHOICES = "[c]ancel it, [w]ait on, or leave it running (Enter)? "


def may_wait_on(title: str, cancel: Callable[[], object]) -> bool:
    """Ask the person at the terminal whether to cancel the jobs that the program waits for.

    Return whether to wait on; if not, the interrupt should go its way. Where nobody can answer,
    and at a second Ctrl-C, nothing is cancelled.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"\n{title} is not complete: {CHOICES}")
    sys.stderr.flush()
    answer = sys.stdin.readline().strip().lower()[:1]
    if answer == "c":
        cancel()
    return answer == "w"
