"""Processes in a sandbox of bubblewrap: their command line, and who gets their signals.

bwrap            the attempt's process: it only waits
└── sh           the first process of the sandbox: the kernel kills all others with it
└── job
"""

import os
from collections.abc import Mapping, Sequence

from weft.worker.spawner import tree
from weft.worker.spawner.attempt import SpawnerAttempt
from weft.worker.spawner.descriptors import WORDS_FD
from weft.worker.spawner.posix_spawn import pair

_FIRST = ("/bin/sh", "-c", 'exec 3>&2 2>/dev/null; (exec 2>&3 3>&-; exec "$@"); exit $?', "sh")
"""Not the job itself, because the kernel lets the first process of a namespace ignore signals. It
says nothing of its own to the job's output, but why there is no such program: nobody else looks,
because what the host has is not for the job to know."""


def command_of(attempt: SpawnerAttempt, argv: Sequence[str], cwd: str) -> tuple[str, ...]:
    """Return the command that runs `argv` with what is this job's own."""
    program, *words = attempt.request.sandbox or ()
    for path in (attempt.cwd, attempt.checkpoint):
        if path is not None:
            words += ["--bind", (real := os.path.realpath(path)), real]
    if attempt.cwd is not None:
        for path in attempt.request.own_paths:
            words += ["--bind", os.path.realpath(attempt.cwd), path]
    for path in (attempt.script_path, attempt.memory_files):
        if path is not None:
            words += ["--ro-bind", (real := os.path.realpath(path)), real]
    for path in dict.fromkeys(map(os.path.realpath, attempt.request.hidden_files)):
        if os.path.isfile(path):
            words += ["--ro-bind", "/dev/null", path]
    if attempt.request.own_paths:
        # Last: what is written beside the directories of the host would be lost.
        words += ["--remount-ro", "/"]
    words = ["--args", str(WORDS_FD), *words, "--chdir", cwd]
    return (program, *words, "--", *_FIRST, *argv)


def variables_of(env: Mapping[str, str]) -> str:
    """Return the words that give the job its variables. Raise `ValueError`.

    They are no variables of bwrap: it runs on the host as the worker, where `LD_PRELOAD` would be
    the job's code. On its command line all users of the host could read them.
    """
    words = []
    for name, value in env.items():
        if "\0" in pair(name, value):  # it would end a word
            raise ValueError("embedded null byte")
        words += ["--setenv", name, value]
    return "".join(f"{word}\0" for word in words)


def processes_of(attempt: SpawnerAttempt, table: Mapping[int, tree.Process]) -> set[int]:
    """Return the job's own processes, which are to get its signals."""
    first = {pid for pid, one in table.items() if one.parent == attempt.pid}
    return tree.descendants(table, first)


def first_of(attempt: SpawnerAttempt) -> int:
    """Return the process that is the job itself; 0: it is not there yet."""
    table = tree.read_processes()
    first = {pid for pid, one in table.items() if one.parent == attempt.pid}
    return min((pid for pid, one in table.items() if one.parent in first), default=0)
