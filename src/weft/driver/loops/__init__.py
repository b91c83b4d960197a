"""The loops of the driver. A new one is a file here, an entry below, and a line of SQL.

The line of SQL, in `sql/functions/driver/_loops_with_work.sql`, says when the loop has work.
"""

from typing import Final

from weft.driver.loops import (
    callbacks,
    cancel,
    fold,
    gates,
    hold,
    operate,
    reaper,
    retention,
    settle,
)
from weft.driver.loops.loop import Loop

LOOPS: Final[tuple[Loop, ...]] = (
    fold.LOOP,
    settle.LOOP,
    cancel.LOOP,
    hold.LOOP,
    gates.LOOP,
    operate.LOOP,
    reaper.LOOP,
    retention.LOOP,
    callbacks.LOOP,
)
