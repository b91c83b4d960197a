"""The loops of the driver. A new loop needs a file here, with its `LOOP` or `LOOPS`, or an entry
in `sweeps`, and what gives it work; those of extensions stand there.

That is a line in `sql/functions/hooks/_loops_with_work.sql` for work that a table shows,
a line in `_loops_due.sql` for a date, or `after=("fold",)` for a loop that follows another one.
"""

import sys
from typing import Final

from weft.core.packages import modules_of
from weft.driver.loops.loop import Loop
from weft.ports.extension import parts

_MODULES: Final = tuple(modules_of(sys.modules[__name__]))
LOOPS: Final[tuple[Loop, ...]] = (
    *(module.LOOP for module in _MODULES if hasattr(module, "LOOP")),
    *(loop for module in _MODULES for loop in getattr(module, "LOOPS", ())),
    *(loop for loops in parts("loops") for loop in loops),
)
