"""A spawner whose starts wait for the lock on the file `gate` beside its socket."""

import fcntl
import sys
from pathlib import Path

from weft.worker.spawner import starter
from weft.worker.spawner.__main__ import main
from weft.worker.spawner.posix_spawn import Spawn

GATE = Path(sys.argv[1]).with_name("gate")
run = Spawn.run


def held(self: Spawn) -> int:
    with GATE.open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_SH)
        return run(self)


starter._QUICK_NS = -1  # so that none is started by the loop itself
Spawn.run = held  # type: ignore[method-assign]
sys.exit(main(sys.argv[1:]))
