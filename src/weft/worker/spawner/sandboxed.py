"""Processes in a sandbox of bubblewrap: their command line, and who gets their signals.

bwrap            the attempt's process: it only waits
└── sh           the first process of the sandbox: the kernel kills all others with it
└── job
"""

from collections.abc import Mapping, Sequence

from weft.worker.spawner import tree
from weft.worker.spawner.attempt import SpawnerAttempt

_FIRST = ("/bin/sh", "-c", 'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit $?', "sh")
"""Not the job itself, because the kernel lets the first process of a namespace ignore signals. It
says nothing of its own to the job's output."""


def command_of(attempt: SpawnerAttempt, argv: Sequence[str], cwd: str) -> tuple[str, ...]:
    """Return the command that runs `argv` with what is this job's own."""
    words = list(attempt.request.sandbox or ())
    for path in (attempt.cwd, attempt.checkpoint):
        if path is not None:
            words += ["--bind", path, path]
    for path in (attempt.script_path, attempt.memory_files):
        if path is not None:
            words += ["--ro-bind", path, path]
    return (*words, "--chdir", cwd, "--", *_FIRST, *argv)


def processes_of(attempt: SpawnerAttempt, table: Mapping[int, tree.Process]) -> set[int]:
    """Return the job's own processes, which are to get its signals."""
    first = {pid for pid, one in table.items() if one.parent == attempt.pid}
    return tree.descendants(table, first)


def first_of(attempt: SpawnerAttempt) -> int:
    """Return the process that is the job itself; 0: it is not there yet."""
    table = tree.read_processes()
    first = {pid for pid, one in table.items() if one.parent == attempt.pid}
    return min((pid for pid, one in table.items() if one.parent in first), default=0)
