"""Fault points: where a test lets a process die, fail or wait, once.

For tests alone: `WEFT_FAULTS=fired:/DIR,seed:7,agent.before_report=kill@3,api.after_commit=raise`.
The third time that a process passes the first point it is killed, whichever process that is, and
DIR, which exists, has a file of this name from then on. Without a number the seed says when.
A point stands where something is done outside and not recorded yet: there work is doubled or lost.
"""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

POINTS: Final = (
    "agent.after_claim",
    "agent.after_pack",
    "agent.after_report",
    "agent.after_usage",
    "agent.before_report",
    "api.after_commit",
    "driver.after_callback",
    "driver.after_fold",
    "driver.after_message",
    "migrate.after_step",
    "restore.after_step",
    "spawner.after_start",
)
DELAY_S: Final = 2.0
LATEST: Final = 5
_ENTRIES: Final = [one.partition("=") for one in os.environ.get("WEFT_FAULTS", "").split(",")]
ARMED: Final = {name: how for name, _, how in _ENTRIES if how}
_TERMS: Final = dict(name.split(":", 1) for name, _, how in _ENTRIES if name and not how)
if ARMED.keys() - set(POINTS):
    raise ValueError(f"WEFT_FAULTS, which is for tests: there are the points {POINTS}")


class FaultError(Exception):
    """What a point with `raise` raises."""


def fault_point(name: str) -> Callable[[], None]:
    """Return what to call at a point: nothing, unless a test has armed it."""
    if name not in ARMED:
        return _nothing
    kind, _, nth = ARMED[name].partition("@")
    if kind not in ("kill", "raise", "delay") or not Path(_TERMS.get("fired", "")).is_absolute():
        raise ValueError(f"WEFT_FAULTS, which is for tests: {name} is not armed as they do it")
    drawn = Random(f"{_TERMS.get('seed')} {name}").randint(1, LATEST)  # noqa: S311 (no secret)
    left, fired = int(nth or drawn), Path(_TERMS["fired"], name)

    def pass_point() -> None:
        nonlocal left
        left -= 1
        if left or fired.exists():
            return
        fired.touch(exist_ok=False)
        if kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == "raise":
            raise FaultError(name)
        time.sleep(DELAY_S)

    return pass_point


def _nothing() -> None:
    pass
