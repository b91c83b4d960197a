"""The port `executor`: how an attempt is run.

An executor turns the spec of a job into what the spawner is told. It starts nothing itself.
Built in: `process`, `function`. Loaded by the entry points `weft.executors`.
"""

from dataclasses import dataclass
from typing import Protocol

from weft.core.attempt_key import AttemptKey
from weft.wire.spawner import StartProcess
from weft.wire.spec import JobSpec


@dataclass(frozen=True, kw_only=True)
class ExecutorLimits:
    """What the settings allow one attempt."""

    grace_ms: int
    stream_bytes_max: int
    stream_head_bytes: int
    result_bytes_max: int = 256 << 20


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """What the attempt reserves while it runs."""

    cpu_m: int
    memory_mib: int


class Executor(Protocol):
    """How attempts of one kind are run."""

    def environment_of(self, spec: JobSpec) -> dict[str, str]:
        """Return the variables that the job shares with many others, as one object for all.

        The agent sends them once for many processes.
        """

    def definition_of(self, spec: JobSpec) -> bytes | None:
        """Return what the job shares with others beside its environment; None: nothing.

        `spec`: its own, or that of the job which it `shares`. One object for all that share it:
        the agent sends it once for many processes.
        """

    def start_of(
        self,
        key: AttemptKey,
        spec: JobSpec,
        limits: ExecutorLimits,
        *,
        reserved: Reservation,
        environment: int,
        definition: int | None,
    ) -> StartProcess:
        """Return what the spawner is told to start.

        Raise `WeftError` (reason `bad_spec`) if the spec cannot be run.
        `environment` and `definition` are the places of `environment_of` and `definition_of` in
        the message.
        """
