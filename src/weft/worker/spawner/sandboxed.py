"""Processes in a sandbox of bubblewrap: their command line, and who gets their signals.

bwrap            the attempt's process: it only waits
└── sh           the first process of the sandbox: the kernel kills all others with it
└── job
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from weft.wire.spawner import CONTAINER_WORK
from weft.worker.spawner import tree
from weft.worker.spawner.attempt import SpawnerAttempt
from weft.worker.spawner.posix_spawn import WORDS_FD, pair

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
    words += _own_of(attempt)
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


def _own_of(attempt: SpawnerAttempt) -> list[str]:
    """Return the words that show the job's directory at its own paths; at one with a slash at its
    end, what is at that path below the directory.
    """
    words = []
    for path in attempt.request.own_paths if attempt.cwd is not None else ():
        inner = path.strip("/") if path.endswith("/") else ""
        source = os.path.join(os.path.realpath(attempt.cwd or ""), inner)
        os.makedirs(source, exist_ok=True)
        words += ["--bind", source, path]
    return words


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


# In a container:
# bwrap            the attempt's process: it only waits
# └── bwrap        the first process of the container: it reaps, and the kernel kills all with it
# └── job

_CHECKPOINT: Final = "/weft/checkpoint"
_SECRETS: Final = "/weft/secrets"
_SCRIPT: Final = "/weft/script"


def contained_command_of(attempt: SpawnerAttempt, argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command that runs `argv` in the attempt's container."""
    request = attempt.request
    program, *words = request.sandbox or ()
    if attempt.cwd is not None:
        words += ["--bind", attempt.cwd, CONTAINER_WORK]
    words += _own_of(attempt)
    if attempt.checkpoint is not None:
        words += ["--bind", attempt.checkpoint, _CHECKPOINT]
    if attempt.memory_files is not None:
        words += ["--ro-bind", attempt.memory_files, _SECRETS]
    if attempt.script_path is not None:
        words += ["--ro-bind", attempt.script_path, _SCRIPT]
        argv = (_SCRIPT, *argv[1:])
    # Last: nothing may be written beside the directories of the image.
    words = ["--args", str(WORDS_FD), *words, "--remount-ro", "/"]
    return (program, *words, "--chdir", request.cwd or CONTAINER_WORK, "--", *argv)


def seen_there(env: Mapping[str, str], attempt: SpawnerAttempt) -> dict[str, str]:
    """Return variables with the paths that the container has for those of the host."""
    seen = {attempt.checkpoint: _CHECKPOINT, attempt.memory_files: _SECRETS}
    return {name: seen.get(value, value) for name, value in env.items()}
