"""The executor `process`: the job is a process of the worker's host, run as the worker's user."""

import shlex
import sys
from pathlib import Path
from typing import Final

import msgspec

from weft.plugins.executors.job_environment import (
    SHELL,
    identity_of,
    process_of,
    program_of,
    small_environment,
    variables_of,
)
from weft.ports.executor import ToStart
from weft.wire.documents.services import ServiceDocument
from weft.wire.spawner import StartProcess
from weft.wire.spec import JobSpec

_MINDER: Final = str(Path(__file__).with_name("minder.py"))


class ProcessExecutor:
    """Turn a spec into one process."""

    runner = "spawner"

    def __init__(self) -> None:
        self._environment = small_environment()

    def environment_of(self, spec: JobSpec) -> dict[str, str]:
        """Return the caller's environment if the job inherits it, else the minimal one."""
        return self._environment if spec.inherit_env is None else spec.inherit_env

    def definition_of(self, spec: JobSpec) -> bytes | None:  # noqa: ARG002 (of the port)
        return None

    def start_of(self, attempt: ToStart) -> StartProcess:
        """Return the process: the command, or the script run by its own interpreter or sh."""
        spec = attempt.spec
        argv, script = program_of(spec)
        if spec.service is not None:
            argv, script = _minded(spec.service, argv, script)
        variables = variables_of(attempt.key, spec, attempt.limits)
        if spec.identity:
            variables = {**identity_of(attempt.key, spec), **(spec.env or {}), **variables}
        env = {**spec.env, **variables} if spec.env else variables
        return process_of(attempt, argv, env, script=script)


def _minded(
    service: ServiceDocument, argv: tuple[str, ...], script: str | None
) -> tuple[tuple[str, ...], str | None]:
    """Return the program that minds this one. A script that is a file becomes the minder first,
    which gives the file to sh.
    """
    minder = (sys.executable, "-I", _MINDER, msgspec.json.encode(service).decode())
    if script is None:
        return (*minder, *argv), None
    first = f'[ "$1" = mind ] && shift && exec {shlex.join(minder)} {SHELL} "$0" run "$@"; shift'
    return ("mind", *argv), f"#!{SHELL}\n{first}\n{script}"
