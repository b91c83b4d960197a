"""A spawner that is changed by the first word that it is given.

counting: it writes a line beside its socket when it reads the table of processes, or its children;
threads: it starts every process in a thread; umask: these share one umask, as where the system
refuses to separate them; held: these wait for the lock on the file `gate` beside its socket.
"""

import fcntl
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.worker.spawner import prepared, tree
from weft.worker.spawner.__main__ import main
from weft.worker.spawner.posix_spawn import Spawn

CHANGE, SOCKET, *WORDS = sys.argv[1:]
run = Spawn.run


def counted(read: Callable[..., Any], word: str) -> Callable[..., Any]:
    def call(*given: object) -> Any:  # noqa: ANN401 (as what is counted)
        with Path(SOCKET).with_name("looks").open("a") as looks:
            looks.write(word + "\n")
        return read(*given)

    return call


def held(self: Spawn) -> int:
    with Path(SOCKET).with_name("gate").open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_SH)
        return run(self)


if CHANGE == "counting":
    tree.read_processes = counted(tree.read_processes, "look")
    tree.Children.read = counted(tree.Children.read, "children")  # type: ignore[method-assign]
else:
    prepared._QUICK_NS = -1  # so that none is started by the loop itself
if CHANGE == "held":
    Spawn.run = held  # type: ignore[method-assign]
if CHANGE == "umask":
    prepared.own_umask = lambda: False  # type: ignore[attr-defined]
sys.exit(main([SOCKET, *WORDS]))
