"""The environment that every job of this host has, whatever runs it."""

import os
import pwd
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from weft.core.ends.conditions import BLOCK_FILE_VARIABLE
from weft.core.errors import Invalid
from weft.core.files.products import PRODUCTS_VARIABLE
from weft.core.notes import NOTES_ENDING, NOTES_VARIABLE
from weft.core.progress_file import PROGRESS_VARIABLE
from weft.core.states import AttemptKey
from weft.ports.executor import ExecutorLimits, ToStart
from weft.telemetry.trace import format_traceparent
from weft.wire.spawner import USUAL_PATH, StartProcess
from weft.wire.spec import JobSpec

SHELL = "/bin/sh"
MESSAGES_VARIABLE = "WEFT_MESSAGES"
_ARGUMENT_BYTES_MAX = 100_000
"""A longer script becomes a file: the kernel limits one argument to 128 KiB."""


def small_environment() -> dict[str, str]:
    """Return the environment of jobs that do not inherit one: `docs/guides/jobs.md` lists it."""
    name, home = name_and_home(os.getuid())
    return {
        "HOME": home,
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "LOGNAME": name,
        "PATH": USUAL_PATH,
        "SHELL": SHELL,
        "TMPDIR": os.environ.get("TMPDIR", "/tmp"),  # noqa: S108 (the convention, not a file)
        "USER": name,
    }


def name_and_home(uid: int) -> tuple[str, str]:
    """Return a user's name and home; without an entry, the number and our own home."""
    try:
        user = pwd.getpwuid(uid)
    except KeyError:
        return str(uid), os.environ.get("HOME", "/")
    return user.pw_name, user.pw_dir


def environment_elsewhere(
    key: AttemptKey, spec: JobSpec, limits: ExecutorLimits, small: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of an attempt that an engine runs on other hosts, which have none of
    the directories of this one. `small`: of a job that inherits none.
    """
    there = replace(limits, block_files="", message_files="", product_files="", progress_files="")
    return {
        **(small if spec.inherit_env is None else spec.inherit_env),
        **identity_of(key, spec),
        **(spec.env or {}),
        **variables_of(key, spec, there),
    }


def variables_of(key: AttemptKey, spec: JobSpec, limits: ExecutorLimits) -> dict[str, str]:
    """Return the variables that tell an attempt who it is and what it may do."""
    level = (
        {} if spec.log is None or spec.log.level is None else {spec.log.level_env: spec.log.level}
    )
    variables = {
        **level,
        "WEFT_BATCH": f"b{key.batch_id}",
        "WEFT_JOB": f"b{key.batch_id}.j{key.job_id}",
        "WEFT_ATTEMPT_NO": str(key.attempt),
        "WEFT_GRACE_S": f"{limits.grace_ms / 1000:g}",
    }
    if limits.block_files:
        variables[BLOCK_FILE_VARIABLE] = f"{limits.block_files}/{key.name}"
    if limits.message_files:
        variables[MESSAGES_VARIABLE] = f"{limits.message_files}/{key.name}"
    if limits.product_files:
        variables[PRODUCTS_VARIABLE] = f"{limits.product_files}/{key.name}"
    if limits.progress_files:
        variables[PROGRESS_VARIABLE] = file = f"{limits.progress_files}/{key.name}"
        variables[NOTES_VARIABLE] = f"{file}{NOTES_ENDING}"
    if spec.trace_id is not None:
        variables["WEFT_TRACE_ID"] = spec.trace_id
        variables["TRACEPARENT"] = format_traceparent(spec.trace_id, key.name)
    return variables


def identity_of(key: AttemptKey, spec: JobSpec) -> dict[str, str]:
    """Return the variables in which another system tells its jobs who they are."""
    if spec.identity is None:
        return {}
    numbers = {"{batch}": key.batch_id, "{job}": key.job_id, "{attempt}": key.attempt}
    found: dict[str, str] = {}
    for name, text in spec.identity.items():
        filled = text
        for mark, number in numbers.items():
            filled = filled.replace(mark, str(number))
        found[name] = filled
    return found


def timeout_ms_of(spec: JobSpec) -> int | None:
    """Return the time limit."""
    return None if spec.timeout_s is None else max(1, round(spec.timeout_s * 1000))


def process_of(
    attempt: ToStart,
    argv: tuple[str, ...],
    env: dict[str, str],
    **more: Any,  # noqa: ANN401 (as the fields have it)
) -> StartProcess:
    """Return the process of a job, with its limits. `more`: what else such a process has."""
    spec, limits = attempt.spec, attempt.limits
    check_engine(spec, "a worker of weft's own")
    umask = None if spec.umask is None else int(spec.umask, 8)
    return StartProcess(
        attempt.key,
        argv,
        env,
        spec.cwd,
        environment=attempt.environment,
        timeout_ms=timeout_ms_of(spec),
        grace_ms=limits.grace_ms,
        stream_bytes_max=limits.stream_bytes_max,
        stream_head_bytes=limits.stream_head_bytes,
        cpu_m=attempt.cpu_m,
        memory_mib=attempt.memory_mib,
        **{"stdin": spec.stdin, "umask": umask, **more},
    )


def check_engine(spec: JobSpec, who: str) -> None:
    """Raise `Invalid` if the job chooses what only a gateway to Slurm has."""
    if spec.engine is not None and (spec.engine.given or spec.engine.nodes > 1):
        why = (
            f"its `engine` asks for {', '.join(spec.engine.given) or 'nodes'}, and {who} has none"
        )
        raise Invalid(why, hint="Let it run on a gateway to Slurm.")


def program_of(spec: JobSpec) -> tuple[tuple[str, ...], str | None]:
    """Return the command, and the script that is to be written to a file and run with it."""
    command = spec.command or ()
    script = spec.script
    if script is None:
        return command, None
    if script.startswith("#!") or len(script.encode()) > _ARGUMENT_BYTES_MAX:
        return command, script
    return (SHELL, "-c", script, SHELL, *command), None
