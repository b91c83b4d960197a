"""Wait for facts of other processes, which have no event to wait for."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_S = 120.0
"""An upper bound for machines that do other things too; what is awaited comes much sooner."""
_STEP_S = 0.02

Fact = TypeVar("Fact")


def until(
    fact: Callable[[], Fact | None],
    what: str,
    *,
    within_s: float = PATIENCE_S,
    explain: Callable[[], object] = str,
) -> Fact:
    """Ask for a fact until it is true, and return it. `explain` is asked when it never is."""
    pace = threading.Event()
    deadline = time.monotonic() + within_s
    while True:
        found = fact()
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {within_s:.0f} s: {what} {explain()}"
        pace.wait(_STEP_S)


def hold_for(seconds: float) -> None:
    """Let a fault last for so long."""
    threading.Event().wait(seconds)
