"""The port `executor`: how an attempt of one kind is translated for the runner that runs it.

An executor starts nothing itself. Built in: `process` and `function`, both for the runner
`spawner`. Loaded by the entry points `weft.executors`.

Any method of an executor that is given a spec may raise `weft.Blocked` if the job cannot be run
now, for example because files that it needs cannot be reached; the job waits for what that names.
Nothing else brings files to a job, so there is no port of its own that could raise it.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar, runtime_checkable

from weft.core.errors import WeftError
from weft.core.states import AttemptKey, Reason
from weft.ports.plugins import PluginGroup
from weft.wire.spawner import StartProcess
from weft.wire.spec import JobSpec

Section = TypeVar("Section")


class CannotRun(WeftError, code="WORKER.CANNOT_RUN"):
    """An attempt that cannot be run, and the reason of its end."""

    def __init__(self, message: str, *, reason: Reason = Reason.BAD_SPEC) -> None:
        super().__init__(message)
        self.reason = reason


class SectionOf(Protocol):
    """How a plug-in reads its own settings."""

    def __call__(self, kind: type[Section], /) -> Section:
        """Return the section of this type."""


TenantOf = Callable[[AttemptKey], Awaitable[str]]
"""Finds the name of the tenant of an attempt, for what tenants share by turns."""


async def one_tenant(_: AttemptKey) -> str:
    """Say that all attempts are of one tenant."""
    return ""


@dataclass(frozen=True, kw_only=True)
class ExecutorSite:
    """Where an executor works: the home of weft, and the settings."""

    home: Path
    section: SectionOf
    tenant_of: TenantOf = one_tenant


@dataclass(frozen=True, kw_only=True)
class CgroupTerms:
    """How cgroups limit attempts to what they reserve."""

    directory: str
    """Where they are made."""
    has_quota: bool
    """Whether an attempt never gets more cores than it reserves, even if some are idle."""
    processes_max: int


@dataclass(frozen=True, kw_only=True)
class ExecutorLimits:
    """The limits that the settings put on one attempt."""

    grace_ms: int
    stream_bytes_max: int
    stream_head_bytes: int
    result_bytes_max: int = 256 << 20
    block_files: str = ""
    """The directory in which attempts say what they wait for; empty: they cannot."""
    message_files: str = ""
    """The directory in which each attempt has one with its messages; empty: it gets none."""
    product_files: str = ""
    """The directory in which attempts say what they have made; empty: they cannot."""
    progress_files: str = ""
    """The directory in which attempts say how far they are; empty: they cannot."""
    product_bytes_max: int = 1 << 20
    sandbox: tuple[str, ...] = ()
    """The command that makes a sandbox for each attempt; empty: they have none."""
    hidden_files: Callable[[], tuple[str, ...]] = tuple
    """Says which files no sandbox shows; asked when attempts are sent."""
    cgroup: CgroupTerms | None = None
    """None: attempts get no cgroups."""


def limits_of_job(limits: ExecutorLimits, spec: JobSpec) -> ExecutorLimits:
    """Return the limits of an attempt of this job, which may keep less of its output."""
    if spec.log is None or spec.log.max_bytes is None:
        return limits
    kept, head = kept_of(limits, spec.log.max_bytes)
    return replace(limits, stream_bytes_max=kept, stream_head_bytes=head)


def kept_of(limits: ExecutorLimits, kept_max: int | None) -> tuple[int, int]:
    """Return how much of a stream is kept, and how much of that is its beginning, of a job that
    lets this much be kept.
    """
    if kept_max is None:
        return limits.stream_bytes_max, limits.stream_head_bytes
    kept = min(limits.stream_bytes_max, kept_max)
    return kept, min(limits.stream_head_bytes, (kept + 1) // 2)


class ToStart(NamedTuple):
    """An attempt that is to be described for the spawner."""

    key: AttemptKey
    spec: JobSpec
    limits: ExecutorLimits
    cpu_m: int
    """What it reserves while it runs, as the next two."""
    memory_mib: int
    gpu: int = 0
    environment: int = 0
    """The index in the message of its `environment_of`."""
    definition: int | None = None
    """That of its `definition_of`; None: it has none."""


class JobExecutor(Protocol):
    """How attempts of one kind are run."""

    @property
    def runner(self) -> str:
        """Return the name of the runner for which it translates."""


class SpawnerExecutor(JobExecutor, Protocol):
    """An executor that describes the process that the spawner must start."""

    def environment_of(self, spec: JobSpec) -> dict[str, str]:
        """Return the variables that the job shares with many others, as one common object.

        They are sent once for many processes.
        """

    def definition_of(self, spec: JobSpec) -> bytes | None:
        """Return what the job shares with others besides its environment; None: nothing.

        `spec`: its own, or that of the job in its field `shares`. All that share it get the same
        object, which is sent once for many processes.
        """

    def start_of(self, attempt: ToStart) -> StartProcess:
        """Return the process that the spawner must start. Raise `WeftError` (reason `bad_spec`) if
        the spec cannot be run, and `Blocked` as above.
        """


@runtime_checkable
class PreparingExecutor(Protocol):
    """What an executor has besides if attempts need something that takes time to come.

    Attempts that wait for it are in the phase `preparing`; others overtake them.
    """

    def settle(self, site: ExecutorSite) -> None:
        """Learn where it works, before all else. Raise `WeftError` if it cannot."""

    def prepared(self, key: AttemptKey, spec: JobSpec, logins: Mapping[str, str]) -> bool:
        """Return whether all is here, and keep it for this attempt then. Raise `WeftError`.

        `logins`: `user:password` by registry, from the job's secrets.
        """

    async def prepare(self, key: AttemptKey, spec: JobSpec, logins: Mapping[str, str]) -> None:
        """Bring what the attempt needs, and keep it for this attempt. Raise `WeftError`."""

    def forget(self, keys: Iterable[AttemptKey]) -> None:
        """Keep nothing for these attempts any more; others are ignored."""

    def close(self) -> None:
        """Stop what is under way."""


EXECUTOR_PLUGINS: Final = PluginGroup[Callable[[], JobExecutor]]("weft.executors", "executor")
