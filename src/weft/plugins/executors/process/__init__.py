"""The executor `process`: the job is a process of the worker's host, run as the worker's user."""

import os
import pwd

from weft.ports.executor import ExecutorLimits, Reservation
from weft.telemetry.trace import format_traceparent
from weft.wire.spawner import AttemptKey, StartProcess
from weft.wire.spec import JobSpec

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SHELL = "/bin/sh"
_ARGUMENT_BYTES_MAX = 100_000
"""A longer script becomes a file: the kernel takes 128 KiB as one argument."""


class ProcessExecutor:
    """Turn a spec into one process."""

    def __init__(self) -> None:
        self._environment = small_environment()

    def environment_of(self, spec: JobSpec) -> dict[str, str]:
        """Return the caller's environment if the job inherits it, else the small one."""
        return self._environment if spec.inherit_env is None else spec.inherit_env

    def start_of(
        self,
        key: AttemptKey,
        spec: JobSpec,
        limits: ExecutorLimits,
        *,
        reserved: Reservation,
        environment: int,
    ) -> StartProcess:
        """Return the process: the command itself, or the script by its own interpreter or sh."""
        argv, script = _program_of(spec)
        timeout_ms = None if spec.timeout_s is None else max(1, round(spec.timeout_s * 1000))
        return StartProcess(
            key,
            argv,
            _variables_of(key, spec),
            spec.cwd,
            spec.stdin,
            timeout_ms,
            limits.grace_ms,
            limits.stream_bytes_max,
            limits.stream_head_bytes,
            reserved.cpu_m,
            reserved.memory_mib,
            environment,
            script,
        )


def small_environment() -> dict[str, str]:
    """Return the environment of jobs that do not inherit one: `docs/guides/jobs.md` lists it."""
    user = pwd.getpwuid(os.getuid())
    return {
        "HOME": user.pw_dir,
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "LOGNAME": user.pw_name,
        "PATH": _PATH,
        "SHELL": _SHELL,
        "TMPDIR": os.environ.get("TMPDIR", "/tmp"),  # noqa: S108 (the convention, not a file)
        "USER": user.pw_name,
    }


def _program_of(spec: JobSpec) -> tuple[tuple[str, ...], str | None]:
    command = spec.command or ()
    script = spec.script
    if script is None:
        return command, None
    if script.startswith("#!") or len(script.encode()) > _ARGUMENT_BYTES_MAX:
        return command, script
    return (_SHELL, "-c", script, _SHELL, *command), None


def _variables_of(key: AttemptKey, spec: JobSpec) -> dict[str, str]:
    variables = {
        "WEFT_BATCH": f"b{key.batch_id}",
        "WEFT_JOB": f"b{key.batch_id}.j{key.job_id}",
        "WEFT_ATTEMPT_NO": str(key.attempt),
    }
    if spec.trace_id is not None:
        variables["WEFT_TRACE_ID"] = spec.trace_id
        variables["TRACEPARENT"] = format_traceparent(spec.trace_id)
    return {**spec.env, **variables} if spec.env else variables
