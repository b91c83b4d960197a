"""What Slurm runs: one script for each array, and one for each attempt.

The array's script finds the attempt by its index. Whoever makes the attempt's directory `run` owns
it, so an attempt that was given twice runs once, and one that was withdrawn does not begin: the
shared file system is the fence, not Slurm's answer, which may have been lost.
"""

import shlex
from importlib.resources import files
from signal import Signals
from typing import Final

from weft.core.ends.conditions import BLOCK_FILE_VARIABLE
from weft.core.files.products import PRODUCTS_VARIABLE
from weft.core.progress_file import PROGRESS_VARIABLE
from weft.core.states import AttemptKey
from weft.plugins.executors.job_environment import (
    SHELL,
    environment_elsewhere,
    small_environment,
    timeout_ms_of,
)
from weft.plugins.runners.remote.handles import Dialect, check_program
from weft.ports.executor import ExecutorLimits
from weft.wire.spec import JobSpec
from weft_slurm.runner.commands import environment_of

SLURM: Final = Dialect("Slurm", ("slurm", "process"), chooses=True)
LONGER: Final = "longer"
"""The file that says by how many seconds a limit was extended, in all."""
PASSED_ON: Final = (Signals.SIGHUP, Signals.SIGTERM, Signals.SIGUSR1, Signals.SIGUSR2)
"""What the script of an array passes on. Shells start what runs beside them deaf to INT and QUIT.
"""
PRODUCTS: Final = "products"
ASK: Final = "ask"
PROGRESS: Final = "progress"
"""Files in the directory `run` in which a job says something; the gateway brings them back."""
WORK: Final = "work"
"""The directory in which a job runs that names none. A gateway makes it where it can: each program
that a script starts costs a node a millisecond, and time in which jobs begin.
"""

_LIMIT = """(sleep {seconds}; had=0
while more=$(cat {longer}); [ "${{more:-0}}" -gt $had ]; do sleep $((more - had)); had=$more; done
: >run/late; kill -TERM -$job; sleep {grace}; kill -KILL -$job) >/dev/null 2>&1 & clock=$!
"""


def array_script(root: str, names: str) -> str:
    """Return the script of an array whose attempts are listed in a file."""
    body = files(__package__).joinpath("array.sh").read_text(encoding="utf-8")
    return f"#!/bin/sh\nroot={shlex.quote(root)} names={shlex.quote(names)}\n{body}"


def limit_script(spec: JobSpec, limits: ExecutorLimits) -> str:
    """Return what ends the attempt at its limit, to the millisecond: Slurm counts minutes."""
    limit_ms = timeout_ms_of(spec)
    if limit_ms is None:
        return "clock=\n"
    return _LIMIT.format(seconds=limit_ms / 1000, grace=limits.grace_ms / 1000, longer=LONGER)


def minutes_of(limit_s: float, extra_ms: int = 0) -> int:
    """Return Slurm's own limit, which comes after the one that the script keeps."""
    return int((limit_s + extra_ms / 1000) // 60) + 2


def job_script(key: AttemptKey, spec: JobSpec, limits: ExecutorLimits) -> str:
    """Return the script of one attempt. Raise `Invalid` if the cluster cannot run such a job."""
    check_program(spec, SLURM)
    own = environment_elsewhere(key, spec, limits, small_environment())
    own_directory = f"cd {WORK} 2>/dev/null || {{ mkdir -p {WORK} && cd {WORK}; }}"
    where = f"{{ {own_directory}; }}" if spec.cwd is None else f"cd {shlex.quote(spec.cwd)}"
    umask = "" if spec.umask is None else f"umask {int(spec.umask, 8):o}\n"
    stdin = "" if spec.stdin is None else f"exec <{shlex.quote(spec.stdin)} || exit 66\n"
    return (
        f"#!{SHELL}\nhere=$PWD\n{umask}{where} || {{ : >$here/run/nowhere; exit 126; }}\n"
        f"{stdin}{environment_of(own)}{_files_left(limits)}{_program(spec)}"
    )


def _files_left(limits: ExecutorLimits) -> str:
    """Return lines that tell a job where to write what the gateway brings back."""
    given = (
        (BLOCK_FILE_VARIABLE, limits.block_files, ASK),
        (PRODUCTS_VARIABLE, limits.product_files, PRODUCTS),
        (PROGRESS_VARIABLE, limits.progress_files, PROGRESS),
    )
    return "".join(f'export {name}="$here/run/{file}"\n' for name, has, file in given if has)


def _program(spec: JobSpec) -> str:
    words = spec.command or ()
    if spec.script is not None:
        if spec.script.startswith("#!"):
            return f'exec "$here/script" {shlex.join(words)}\n'
        return f'exec {SHELL} "$here/script" {shlex.join(words)}\n'
    if not words:
        return "exit 0\n"
    program = shlex.quote(words[0])
    return (
        f"command -v {program} >/dev/null 2>&1 || {{ : >$here/run/missing; exit 127; }}\n"
        f"exec {shlex.join(words)}\n"
    )
