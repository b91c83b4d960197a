"""How long the siege waits for what must come."""

import asyncio
import time
from collections.abc import Callable

from weft.run.role_process import RoleFailed

PATIENCE_S = 60.0
_STEP_S = 0.05


async def until(fact: Callable[[], object], what: str, *, within_s: float = PATIENCE_S) -> None:
    """Ask for a fact until it is true; raise `RoleFailed` if it never is."""
    deadline = time.monotonic() + within_s
    while not fact():
        if time.monotonic() > deadline:
            raise RoleFailed(
                f"not within {within_s:.0f} s: {what}",
                hint="Look at the logs of the siege; a slow machine bears fewer `--workers`.",
            )
        await asyncio.sleep(_STEP_S)
