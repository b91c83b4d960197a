"""The port `runner`: where attempts run, and what has become of them.

A worker has one runner, and the runner's incarnation is the worker's: the fence of its attempts
(ADR 21). A runner may outlive the agent. The next agent calls `adopt` and learns what waits, what
lives and what has ended; an end is kept until it is acknowledged. One agent has a runner at a
time: the newest.

A remote runner, whose engine runs attempts elsewhere, writes a durable handle before it submits an
attempt, under a name that no other attempt has (`AttemptKey.name`): a second submission is the
same one.

All times are `CLOCK_MONOTONIC` of the agent's host, in nanoseconds. Built in: `spawner`. Loaded
by the entry points `weft.runners`; each is called with a `RunnerSite`.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from weft.core.attempt_key import AttemptKey
from weft.core.log_location import LogLocation
from weft.core.states import Phase, Reason
from weft.ports.executor import Executor, ExecutorLimits
from weft.ports.log_store import LogWriter
from weft.wire.spawner import WarmLimits
from weft.wire.spec import JobSpec


class RunnerGone(Exception):
    """The runner does not answer any more: `adopt` finds it again, or starts another one."""


class Assignment(msgspec.Struct, frozen=True):
    """One attempt that the runner is to run."""

    key: AttemptKey
    spec: JobSpec
    cpu_m: int
    """Reserved while it runs."""
    memory_mib: int
    definer: tuple[int, int]
    """Batch and job that bring what this job shares with others: itself or another one."""
    shared: JobSpec | None = None
    """The spec of that other job; None: the job brings it itself, or the other one is gone."""


class Started(msgspec.Struct, frozen=True):
    """An attempt that runs."""

    key: AttemptKey
    started_ns: int


class Entered(msgspec.Struct, frozen=True):
    """An attempt that entered a phase."""

    key: AttemptKey
    phase: Phase


class Ended(msgspec.Struct, frozen=True):
    """An attempt that ended, or was never started."""

    key: AttemptKey
    started_ns: int
    """0: it never was."""
    ended_ns: int
    reason: int | None = None
    """`core.states.Reason`; None: it succeeded."""
    exit_code: int | None = None
    signal: int | None = None
    message: str = ""
    """What a person should know: the missing program's name, the file system that is full."""
    cpu_ms: int = 0
    memory_peak_bytes: int = 0
    stdout_bytes: int = 0
    """How much the job wrote, also what was cut."""
    stderr_bytes: int = 0
    truncated: bool = False
    location: LogLocation | None = None


def never_started(key: AttemptKey, reason: Reason, *, now_ns: int, message: str = "") -> Ended:
    """Return the end of an attempt that did not run."""
    return Ended(key, 0, now_ns, reason, message=message)


class Happened(msgspec.Struct, frozen=True):
    """What happened since the last report."""

    started: Sequence[Started] = ()
    """Attempts that have run long enough to be worth telling; short ones are in `ended` only."""
    entered: Sequence[Entered] = ()
    ended: Sequence[Ended] = ()
    withdrawn: Sequence[AttemptKey] = ()
    """Attempts that will not be started, as `withdraw` asked."""


class Known(msgspec.Struct, frozen=True):
    """What a runner knows when an agent finds it."""

    incarnation: str
    """Its name. A new one means: whatever an older incarnation had is lost."""
    older_are_gone: bool
    """It is proved that nothing of an older incarnation runs any more."""
    waiting: Sequence[AttemptKey] = ()
    """Submitted and not started, in order."""
    live: Sequence[Started] = ()
    ended: Sequence[Ended] = ()


@dataclass(frozen=True, kw_only=True)
class RunnerSite:
    """What a runner is given: its worker's name, its directories, its limits."""

    worker: str
    file_name: str
    """The worker's name as it may stand in the name of a file."""
    run: Path
    """For sockets and locks."""
    state: Path
    """For what must outlive the agent and the host's reboot: handles, the incarnation."""
    scratch: Path
    logs: Path
    log_writer: LogWriter
    """For output that is collected from elsewhere."""
    role_logs: Path
    """For what the runner says itself."""
    cpu_m: int
    memory_mib: int
    limits: ExecutorLimits
    executors: Mapping[str, Executor]
    """By name: those that translate for this runner."""
    warm: WarmLimits = field(default_factory=WarmLimits)


class Runner(Protocol):
    """Where attempts run."""

    async def adopt(self) -> Known:
        """Find what an earlier agent left, or begin anew once it is proved gone. Call it first,
        and again after `RunnerGone` or `end`.

        Nothing is started that an earlier agent only asked for before `happened` is read, so that
        the caller can `stop` what the database does not know.
        """

    async def submit(self, assignments: Sequence[Assignment]) -> None:
        """Run these in order, each as soon as what it reserves is free. A key that is known
        already is ignored. One that cannot be run ends with the reason `bad_spec`.
        """

    def withdraw(self, keys: Sequence[AttemptKey]) -> None:
        """Forget those that have not begun; `Happened.withdrawn` says which those were."""

    def stop(self, keys: Sequence[AttemptKey], *, reason: Reason, grace_ms: int) -> None:
        """End these: politely, and after the grace by force. Unknown keys are ignored. Each ends
        with this reason unless it ended by itself.
        """

    def acknowledge(self, keys: Sequence[AttemptKey]) -> None:
        """Forget these ends: the database has recorded them."""

    def keep_until(self, until_ns: int, *, database: str = "", return_ns: int = 0) -> None:
        """Go on: the database knew this worker just now. Unless that is said again before
        `until_ns`, everything must stop, because it may run elsewhere by then; 0: go on for ever.

        `database`: the socket of a server on this host. While it is away, nobody is given
        anything, so attempts may go on, and for `return_ns` after it is back.
        """

    def happened(self) -> AsyncIterator[Happened]:
        """Yield what happens from `adopt` on. Raises `RunnerGone`."""

    async def end(self) -> None:
        """Stop everything at once and end this incarnation; return soon, proved or not."""

    def leave(self) -> None:
        """Let go of the runner, which goes on: another agent will adopt it."""


class RunnerFactory(Protocol):
    """What an entry point of `weft.runners` names."""

    def __call__(self, site: RunnerSite) -> Runner:
        """Make the runner of one worker. It does nothing before `adopt`."""
