"""The processes of one home, which nobody else has."""

import os
import signal
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from weft.run.host.leftovers import SPAWNER_MODULE
from weft.wire.processes import all_pids, parts_of
from weft.worker.spawner.tree import read_process

SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "restart": signal.SIGTERM}
"""Of acts that are signals."""


def send(number: signal.Signals, pids: Iterable[int]) -> None:
    """Send a signal to those of them that are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def command_of(pid: int) -> str:
    """Return what a process was started as; nothing if it has ended."""
    return b" ".join(parts_of(pid, "cmdline")).decode(errors="replace")


def pids_of_home(home: Path, word: str) -> Sequence[int]:
    """Return the processes of a home, or of one below it, with this word in their command."""
    ours = f"WEFT_HOME={home}".encode()
    return [
        pid
        for pid in _pids_with(word)
        if any(part.startswith(ours) for part in parts_of(pid, "environ"))
    ]


def spawner_pids(home: Path, end: str = ".sock") -> Sequence[int]:
    """Return the spawner of a home, not the program that gave it its namespace, nor a process of
    a job, which looks like it until it has begun its own program.
    """
    spawners = {
        pid
        for pid in _pids_with(SPAWNER_MODULE)
        if not (words := parts_of(pid, "cmdline"))[0].startswith(b"unshare")
        and any(
            word.startswith(os.fsencode(home)) and word.endswith(end.encode()) for word in words
        )
    }
    parents = {pid: read_process(pid) for pid in spawners}
    return [pid for pid, process in parents.items() if process and process.parent not in spawners]


def _pids_with(word: str) -> Sequence[int]:
    others = (pid for pid in all_pids() if pid != os.getpid())
    return [pid for pid in others if word.encode() in parts_of(pid, "cmdline")]
