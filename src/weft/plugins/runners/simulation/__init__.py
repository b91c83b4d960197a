"""The runner `simulation`: attempts are tasks of the agent's own process.

They have no effect but their output, and end with this process. Nobody else can have this worker's
name in the home while it lives, so a new incarnation proves that older ones are gone. It must not
start programs of jobs.
"""

import asyncio
import os
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Protocol, cast

from weft.core.ends.conditions import Blocked
from weft.core.errors import WeftError
from weft.core.states import AttemptKey, Command, Phase, Reason
from weft.plugins.runners.simulation.exchange import Exchange, travel_of
from weft.plugins.runners.simulation.steps import Adder, Output, StepFailed, take
from weft.ports import runner
from weft.ports.executor import JobExecutor, TenantOf, one_tenant
from weft.ports.log_store import LogWriter
from weft.ports.patience import end_tasks
from weft.ports.topics import JobTopics
from weft.wire.documents.simulations import Step
from weft.wire.spec import JobSpec

_TELL_START_S = 0.05
"""An attempt that is over by then is told as an end only."""
_FAILED = 1
"""The exit code of a job that a step failed."""


class StepsExecutor(JobExecutor, Protocol):
    """An executor that says which steps a job takes."""

    def steps_of(self, spec: JobSpec) -> tuple[Step, ...]:
        """Return the steps. Raise `WeftError` if the spec cannot be run, and `Blocked`."""


def open_simulations(site: runner.RunnerSite) -> "SimulationRunner":
    """Return the runner of a worker of simulations."""
    # The composition root gives each runner the executors that name it.
    executors = cast("Mapping[str, StepsExecutor]", site.executors)
    return SimulationRunner(
        executors,
        site.log_writer,
        processes_max=os.cpu_count() or 1,
        topics=site.job_topics,
        tenant_of=site.tenant_of,
    )


class _Untold:
    """What has happened since it was told last."""

    def __init__(self) -> None:
        self.started: list[runner.Started] = []
        self.entered: list[runner.Entered] = []
        self.ended: list[runner.Ended] = []
        self.obeyed: list[tuple[int, str]] = []


class _Attempt:
    """An attempt that runs."""

    __slots__ = ("cpu_ms", "key", "output", "reason", "started_ns", "task")

    def __init__(self, key: AttemptKey, logs: LogWriter) -> None:
        self.key = key
        self.started_ns = time.monotonic_ns()
        self.output = Output(key, logs, self.started_ns)
        self.reason: Reason | None = None
        """Why it is stopped."""
        self.cpu_ms = 0
        self.task: asyncio.Task[None] | None = None


class SimulationRunner:
    """Simulations as tasks; see the port for the methods."""

    outlives_host = False

    def __init__(
        self,
        executors: Mapping[str, StepsExecutor],
        logs: LogWriter,
        *,
        processes_max: int,
        topics: Sequence[JobTopics] = (),
        tenant_of: TenantOf = one_tenant,
    ) -> None:
        self._tenant_of = tenant_of
        self._topics = topics
        self._exchanges: dict[str, Exchange] = {}
        """By the names of their sets of topics."""
        self._exchanging: list[asyncio.Task[None]] = []
        self._executors = executors
        self._logs = logs
        self._adder = Adder(processes_max)
        self._incarnation = ""
        self._attempts: dict[AttemptKey, _Attempt] = {}
        self._ended: dict[AttemptKey, runner.Ended] = {}
        """Those that nobody has acknowledged."""
        self._untold = _Untold()
        self._wake = asyncio.Event()
        self._fence: asyncio.TimerHandle | None = None
        self._until_ns = 0

    async def adopt(self) -> runner.Known:
        """Say what this process has."""
        self._incarnation = self._incarnation or uuid.uuid4().hex
        self._untold = _Untold()
        live = [
            runner.Started(attempt.key, attempt.started_ns) for attempt in self._attempts.values()
        ]
        return runner.Known(
            self._incarnation, older_are_gone=True, live=live, ended=list(self._ended.values())
        )

    async def submit(self, assignments: Sequence[runner.Assignment]) -> None:
        """Start them all: what a worker of simulations offers is slots."""
        new = [
            assignment
            for assignment in assignments
            if assignment.key not in self._attempts and assignment.key not in self._ended
        ]
        started = [assignment.key for assignment in new if self._start(assignment)]
        if started:
            asyncio.get_running_loop().call_later(_TELL_START_S, self._tell_starts, started)

    def withdraw(self, keys: Sequence[AttemptKey]) -> None:
        """Do nothing: all have begun."""

    def stop(self, keys: Sequence[AttemptKey], *, reason: Reason, grace_ms: int) -> None:
        """End them at once: a simulation has nothing to tidy up."""
        del grace_ms
        for key in keys:
            one = self._attempts.get(key)
            if one is not None and one.task is not None and one.reason is None:
                one.reason = reason
                one.task.cancel()

    def command(self, commands: Sequence[Command]) -> None:
        """Refuse: nothing in a simulation listens."""
        self._untold.obeyed += [(one.number, "it is simulated") for one in commands]
        self._wake.set()

    def acknowledge(self, keys: Sequence[AttemptKey]) -> None:
        """Forget these ends."""
        for key in keys:
            self._ended.pop(key, None)

    def keep_until(self, until_ns: int, *, database: str = "", return_ns: int = 0) -> None:
        """Stop everything then, also while the database is down: another attempt costs little."""
        del database, return_ns
        self._until_ns = until_ns
        if self._fence is None and until_ns:
            self._look_at_fence()

    async def happened(self) -> AsyncIterator[runner.Happened]:
        """Yield what happens, what came together at once."""
        if not self._exchanges:
            # Not before: now the database knows this incarnation.
            self._exchanges = {
                one.name: Exchange(one, self._incarnation, self._adder) for one in self._topics
            }
            self._exchanging = [asyncio.create_task(one.run()) for one in self._exchanges.values()]
        while True:
            await self._wake.wait()
            self._wake.clear()
            told, self._untold = self._untold, _Untold()
            yield runner.Happened(told.started, told.entered, told.ended, (), told.obeyed)

    async def end(self) -> None:
        """Forget everything, and begin another incarnation with the next `adopt`."""
        tasks = [attempt.task for attempt in self._attempts.values() if attempt.task is not None]
        self._attempts.clear()
        for exchange in self._exchanges.values():
            exchange.close()
        # What is on its way out still needs the exchanges.
        for some in (tasks, self._exchanging):
            await end_tasks(some)
        self._exchanges, self._exchanging = {}, []
        self._ended.clear()
        self._untold = _Untold()
        self._incarnation = ""
        self._until_ns = 0

    async def abandon(self) -> None:
        """Do nothing: it ends with this process."""

    def leave(self) -> None:
        """Do nothing: the next agent of this process is the same one."""

    def _start(self, assignment: runner.Assignment) -> bool:
        """Begin an attempt; return whether it could be begun."""
        key, spec, now_ns = assignment.key, assignment.spec, time.monotonic_ns()
        executor = self._executors.get(spec.executor)
        if executor is None:
            message = f"its worker has no executor {spec.executor!r}"
            self._end(runner.never_started(key, Reason.BAD_SPEC, now_ns=now_ns, message=message))
            return False
        try:
            steps = executor.steps_of(spec)
        except Blocked as error:
            self._end(runner.blocked(key, error, now_ns=now_ns))
            return False
        except WeftError as error:
            refused = runner.never_started(
                key, Reason.BAD_SPEC, now_ns=now_ns, message=error.message
            )
            self._end(refused)
            return False
        one = self._attempts[key] = _Attempt(key, self._logs)
        one.task = asyncio.ensure_future(self._run(one, steps, spec))
        one.task.add_done_callback(lambda _task: self._end_cancelled(one))
        return True

    async def _run(self, one: _Attempt, steps: Sequence[Step], spec: JobSpec) -> None:
        reason, exit_code, message = None, None, ""
        try:
            async with asyncio.timeout(spec.timeout_s):
                travel = travel_of(spec)
                exchange = None if travel is None else self._exchanges.get(travel.topics)
                if travel is not None and exchange is not None:
                    one.cpu_ms = await exchange.send(
                        travel, steps, one.output, one.key.attempt, partial(self._say, one.key)
                    )
                else:
                    tenant = partial(self._tenant_of, one.key)
                    for step in steps:
                        one.cpu_ms += await take(step, one.output, self._adder, tenant)
            exit_code = 0
        except StepFailed as error:
            reason, exit_code, message = Reason.EXIT, _FAILED, str(error)
        except TimeoutError:
            reason = Reason.TIMEOUT
        except OSError as error:
            reason, message = Reason.SYSTEM, f"it could not go on: {error.strerror}"
        except asyncio.CancelledError:
            if one.reason is None:  # this incarnation ends
                raise
            reason = one.reason
        try:
            await one.output.write()
        except OSError as error:
            reason, message = Reason.DISK, f"its output could not be written: {error.strerror}"
        self._end_running(one, reason, exit_code, message)

    def _end_running(
        self, one: _Attempt, reason: Reason | None, exit_code: int | None, message: str
    ) -> None:
        if self._attempts.pop(one.key, None) is not None:
            now_ns, n_bytes = time.monotonic_ns(), one.output.n_bytes
            self._end(
                runner.Ended(
                    one.key,
                    one.started_ns,
                    now_ns,
                    reason,
                    exit_code,
                    message=message,
                    cpu_ms=one.cpu_ms,
                    stdout_bytes=n_bytes,
                )
            )

    def _end_cancelled(self, one: _Attempt) -> None:
        """Tell the end of one that was stopped before its first step, or while it ended."""
        if one.reason is not None:
            self._end_running(one, one.reason, None, "")

    def _end(self, ended: runner.Ended) -> None:
        self._ended[ended.key] = ended
        self._untold.ended.append(ended)
        self._wake.set()

    def _say(self, key: AttemptKey, message: str) -> None:
        if key in self._attempts:
            self._untold.entered.append(runner.Entered(key, Phase.EXECUTING, message))
            self._wake.set()

    def _tell_starts(self, keys: Sequence[AttemptKey]) -> None:
        some = [one for key in keys if (one := self._attempts.get(key)) is not None]
        if some:
            self._untold.started += [runner.Started(one.key, one.started_ns) for one in some]
            self._wake.set()

    def _look_at_fence(self) -> None:
        self._fence = None
        if not self._until_ns:
            return
        left_s = (self._until_ns - time.clock_gettime_ns(time.CLOCK_BOOTTIME)) / 1e9
        if left_s <= 0:
            self.stop(list(self._attempts), reason=Reason.LOST, grace_ms=0)
            self._until_ns = 0
            return
        self._fence = asyncio.get_running_loop().call_later(left_s, self._look_at_fence)
