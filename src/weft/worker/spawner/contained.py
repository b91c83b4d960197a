"""Processes in a container: what is the attempt's own is at fixed seen there.

bwrap            the attempt's process: it only waits
└── bwrap        the first process of the container: it reaps, and the kernel kills all with it
└── job
"""

from collections.abc import Mapping, Sequence
from typing import Final

from weft.wire.spawner import CONTAINER_WORK
from weft.worker.spawner.attempt import SpawnerAttempt
from weft.worker.spawner.descriptors import WORDS_FD

_CHECKPOINT: Final = "/weft/checkpoint"
_SECRETS: Final = "/weft/secrets"
_SCRIPT: Final = "/weft/script"


def command_of(attempt: SpawnerAttempt, argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command that runs `argv` in the attempt's container."""
    request = attempt.request
    program, *words = request.sandbox or ()
    if attempt.cwd is not None:
        for path in (CONTAINER_WORK, *request.own_paths):
            words += ["--bind", attempt.cwd, path]
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
