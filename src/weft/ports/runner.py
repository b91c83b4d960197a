"""The port `runner`: it runs attempts and reports their ends.

A worker has one runner, and the runner's incarnation is the worker's: the fence of its attempts
(ADR 21). A runner may outlive the agent. The next agent calls `adopt` and learns which attempts
wait, run and have ended; an end is kept until it is acknowledged. A runner has one agent at a
time: the newest.

A remote runner, whose engine runs attempts elsewhere, writes a durable handle before it submits an
attempt under a unique name (`AttemptKey.name`), so a second submission has no effect.

All times are `CLOCK_MONOTONIC` of the agent's host, in nanoseconds. Built in: `spawner`. Loaded
by the entry points `weft.runners`; each is called with a `RunnerSite`.
"""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol

import msgspec

from weft.core.ends.conditions import Ask, Blocked
from weft.core.errors import WeftError
from weft.core.scheduling.black_holes import AvoidedNode
from weft.core.states import AttemptKey, Command, Phase, Reason
from weft.ports.executor import ExecutorLimits, JobExecutor, SectionOf, TenantOf, one_tenant
from weft.ports.log_store import LogWriter
from weft.ports.plugins import PluginGroup
from weft.ports.topics import JobTopics
from weft.wire.documents.secrets import SecretUse
from weft.wire.log_format import LogLocation
from weft.wire.spawner import Account, WarmLimits
from weft.wire.spec import JobSpec


class RunnerGone(Exception):
    """The runner does not answer any more: `adopt` finds it again, or starts another one."""


class GivenSecret(msgspec.Struct, frozen=True):
    """A secret for one attempt."""

    use: SecretUse
    value: str

    def __repr__(self) -> str:
        """Return a text without the value: tracebacks may show it."""
        return f"GivenSecret({self.use!r})"


class Assignment(msgspec.Struct, frozen=True):
    """One attempt for the runner to run."""

    key: AttemptKey
    spec: JobSpec
    cpu_m: int
    """Reserved while it runs."""
    memory_mib: int
    definer: tuple[int, int]
    """Batch and job that carry what this job shares with others: itself or another job."""
    shared: JobSpec | None = None
    """The spec of that other job; None: the job carries it itself, or the other job is gone."""
    gpu: int = 0
    """How many GPUs it has for itself while it runs."""
    secrets: Sequence[GivenSecret] = ()
    """Values for the job alone; its spec requires `SECRETS` then."""
    account: Account | None = None
    """The Unix account under which it runs; None: the worker's."""
    directory: str | None = None
    """The directory in which it runs, with its inputs; its spec requires `FILES` then. The agent
    removes it when the end is acknowledged.
    """
    passes: bool = False
    """A runner that starts attempts in order starts it before one that has no room yet."""


def check_requirements(spec: JobSpec, met: frozenset[str]) -> None:
    """Raise `WeftError` if a job requires something of its runner that is not in `met`."""
    if missing := [require for require in spec.requires if require not in met]:
        raise WeftError(f"its worker's runner cannot give it what it requires: {missing[0]}")


class Started(msgspec.Struct, frozen=True):
    """An attempt that runs."""

    key: AttemptKey
    started_ns: int


class Entered(msgspec.Struct, frozen=True):
    """An attempt that entered a phase, or of which an engine elsewhere says something new."""

    key: AttemptKey
    phase: Phase
    message: str = ""
    """For people: why it waits, or where it runs."""
    entered_ns: int = msgspec.field(default_factory=time.monotonic_ns)


class Ended(msgspec.Struct, frozen=True):
    """An attempt that has ended, or was never started."""

    key: AttemptKey
    started_ns: int
    """0: it was never started."""
    ended_ns: int
    reason: int | None = None
    """`core.states.Reason`; None: it succeeded."""
    exit_code: int | None = None
    signal: int | None = None
    message: str = ""
    """Details for people, such as the name of a missing program or of a full file system."""
    cpu_ms: int = 0
    memory_peak_bytes: int = 0
    stdout_bytes: int = 0
    """How much the job wrote, including bytes that were cut."""
    stderr_bytes: int = 0
    truncated: bool = False
    location: LogLocation | None = None
    ask: Ask | None = None
    """What it waits for, with the reason `blocked`."""


def never_started(key: AttemptKey, reason: Reason, *, now_ns: int, message: str = "") -> Ended:
    """Return the end of an attempt that did not run."""
    return Ended(key, 0, now_ns, reason, message=message)


def mistaken(ended: Ended, why: str) -> Ended:
    """Return an end of which nothing is believed but when it was."""
    return never_started(ended.key, Reason.SYSTEM, now_ns=ended.ended_ns, message=why)


def without_products(ended: Ended, why: str) -> Ended:
    """Return the end of an attempt whose products cannot be kept: it is no success."""
    message = f"its products cannot be kept: {why}"
    if ended.reason is not None:
        return msgspec.structs.replace(ended, message=ended.message or message)
    return msgspec.structs.replace(ended, reason=Reason.FILES, message=message)


def blocked(key: AttemptKey, error: Blocked, *, now_ns: int) -> Ended:
    """Return the end of an attempt that cannot be started now."""
    return Ended(key, 0, now_ns, Reason.BLOCKED, message=str(error), ask=error.ask)


class Happened(msgspec.Struct, frozen=True):
    """What happened since the last report."""

    started: Sequence[Started] = ()
    """Attempts that have run long enough to be worth a report; short ones are in `ended` only."""
    entered: Sequence[Entered] = ()
    ended: Sequence[Ended] = ()
    withdrawn: Sequence[AttemptKey] = ()
    """Attempts that will not be started, as `withdraw` asked."""
    obeyed: Sequence[tuple[int, str]] = ()
    """Commands by number, and why they were not obeyed; empty: they were."""
    avoided: Sequence[AvoidedNode] | None = None
    """All nodes that are avoided now, when one more is; None: nothing new."""


class Known(msgspec.Struct, frozen=True):
    """The attempts that a runner knows when an agent adopts it."""

    incarnation: str
    """The incarnation's name. A new name means that all attempts of older ones are lost."""
    older_are_gone: bool
    """Whether it is proved that no attempt of an older incarnation runs any more. Whoever has lost
    the traces of the older one must not say so.
    """
    waiting: Sequence[AttemptKey] = ()
    """Attempts submitted and not started, in order."""
    live: Sequence[Started] = ()
    ended: Sequence[Ended] = ()
    is_over: bool = False
    """Whether it is gone and only left these ends. The next call of `adopt` tells who follows."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How often a runner that can measure what attempts use keeps a sample beside their output."""

    period_ms: int = 0
    """0: never. An attempt that is younger than this has none."""
    count_max: int = 1000
    """Of one attempt. When it has as many, every second one goes, and the next come half as
    often.
    """


@dataclass(frozen=True, kw_only=True)
class RunnerSite:
    """The environment of a runner: its worker's name, its directories, its limits."""

    worker: str
    file_name: str
    """The worker's name in a form that is valid in file names."""
    run: Path
    """For sockets and locks."""
    state: Path
    """For data that must survive the agent and a reboot of the host: handles, the incarnation."""
    scratch: Path
    checkpoints: Path
    """For what jobs keep between attempts; all workers of the home share it."""
    logs: Path
    log_writer: LogWriter
    """For output that is collected from elsewhere."""
    log_store: str = "files"
    """The name of the log store in which the output of attempts must be."""
    role_logs: Path
    """For the runner's own messages."""
    cpu_m: int
    memory_mib: int
    limits: ExecutorLimits
    section: SectionOf
    """Gives the section of a plug-in's settings."""
    executors: Mapping[str, JobExecutor]
    """The executors that translate for this runner, by name."""
    tenant_of: TenantOf = one_tenant
    warm: WarmLimits = field(default_factory=WarmLimits)
    job_namespace: Literal["auto", "always", "never"] = "auto"
    """Whether processes that it starts on this host get a PID namespace."""
    gpus: tuple[str, ...] = ()
    """Ids of the GPUs of this host that jobs may use."""
    sampling: Sampling = field(default_factory=Sampling)
    job_topics: Sequence[JobTopics] = ()
    """Sets of topics over which simulated jobs travel."""
    accounts: bool = False
    """Whether attempts have accounts of their users, which reach `scratch` and `checkpoints`."""


class Runner(Protocol):
    """Where attempts run."""

    @property
    def outlives_host(self) -> bool:
        """Return whether attempts continue when all processes of this host have ended, because an
        engine elsewhere runs them. An agent that stops in order leaves them (ADR 31).
        """

    async def adopt(self) -> Known:
        """Find what an earlier agent left, or start afresh after proof that it is gone. Call this
        first, and again after `RunnerGone`, `end` or `leave`. While an engine elsewhere is away,
        all that it was given waits; may raise `Unavailable`, then call it again, too.

        Attempts that an earlier agent submitted but that have not begun do not start before
        `happened` is read, so that the caller can `stop` those that the database does not know.
        """

    async def submit(self, assignments: Sequence[Assignment]) -> None:
        """Run these in order, each as soon as its reservation is free. A known key is ignored. An
        attempt that cannot be run ends with the reason `bad_spec`; one whose executor or
        engine raises `Blocked` ends with the reason `blocked` and what it asks for.
        """

    def withdraw(self, keys: Sequence[AttemptKey]) -> None:
        """Forget the attempts that have not begun; `Happened.withdrawn` lists those."""

    def stop(self, keys: Sequence[AttemptKey], *, reason: Reason, grace_ms: int) -> None:
        """End these attempts, by force after the grace period. Unknown keys are ignored. Each ends
        with this reason unless it ended by itself.
        """

    def command(self, commands: Sequence[Command]) -> None:
        """Tell attempts something; `Happened.obeyed` says of each command what came of it. A
        runner that cannot do it says so there.
        """

    def acknowledge(self, keys: Sequence[AttemptKey]) -> None:
        """Forget these ends: the database has recorded them."""

    def keep_until(self, until_ns: int, *, database: str = "", return_ns: int = 0) -> None:
        """Continue: the database has just confirmed this worker. Without another call before
        `until_ns` (of `CLOCK_BOOTTIME`) everything must stop, because it may run elsewhere by
        then; 0: no limit.

        `database`: the socket of a server on this host. While the server is down, it reassigns
        nothing, so attempts may continue until `return_ns` after it is back.
        An engine elsewhere has such a limit of its own, which this call moves, or else is the only
        one that serves its jobs (ADR 21).
        """

    def happened(self) -> AsyncIterator[Happened]:
        """Yield what happens after `adopt`. Raises `RunnerGone`."""

    async def end(self) -> None:
        """Stop everything at once and end this incarnation; return soon, proved or not."""

    async def abandon(self) -> None:
        """Do without an agent, since perhaps none comes back: the last call before `leave`. What
        waits or runs goes on until `keep_until`, for the next agent may adopt it after all; a
        runner that has nothing left ends, unless it outlives the host.
        """

    def leave(self) -> None:
        """Release the runner, which continues: an agent will adopt it, this one or another."""


class RunnerFactory(Protocol):
    """The type of the entry points `weft.runners`."""

    def __call__(self, site: RunnerSite) -> Runner:
        """Make the runner of one worker. It does nothing before `adopt`."""


RUNNER_PLUGINS: Final = PluginGroup[RunnerFactory]("weft.runners", "runner")
