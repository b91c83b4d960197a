"""The loops of the driver. A new loop needs a file here, an entry below, and what gives it work;
those of extensions stand there.

That is a line in `sql/functions/hooks/_loops_with_work.sql` for work that a table shows,
a line in `_loops_due.sql` for a date, or `after=("fold",)` for a loop that follows another one.
"""

from typing import Final

from weft.driver.loops import (
    announce,
    autoscale,
    black_holes,
    callbacks,
    cancel,
    conditions,
    dead_messages,
    deadlines,
    failures,
    fold,
    gates,
    hold,
    monitor,
    notify,
    operate,
    outcomes,
    patrol,
    preempt,
    reaper,
    recovery,
    release,
    reserve,
    retention,
    schedules,
    settle,
    spending,
    tell_events,
    trail,
)
from weft.driver.loops.loop import Loop
from weft.ports.extension import parts

LOOPS: Final[tuple[Loop, ...]] = (
    fold.LOOP,
    settle.LOOP,
    cancel.LOOP,
    hold.LOOP,
    gates.LOOP,
    deadlines.LOOP,
    operate.LOOP,
    reaper.LOOP,
    retention.LOOP,
    callbacks.LOOP,
    notify.LOOP,
    autoscale.LOOP,
    schedules.LOOP,
    black_holes.LOOP,
    preempt.LOOP,
    reserve.LOOP,
    release.LOOP,
    outcomes.LOOP,
    dead_messages.LOOP,
    announce.LOOP,
    tell_events.LOOP,
    recovery.LOOP,
    conditions.LOOP,
    failures.LOOP,
    monitor.LOOP,
    patrol.LOOP,
    trail.LOOP,
    spending.LOOP,
    *(loop for loops in parts("loops") for loop in loops),
)
