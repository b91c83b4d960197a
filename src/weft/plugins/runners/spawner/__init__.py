"""The runner `spawner`: attempts are processes of this host (`weft.worker.spawner`, ADR 5).

It speaks the spawner's protocol and leaves processes to it. It must not start a job itself.

Attempts that wait for what their executor brings, such as an image; others overtake them.

They are not known to the spawner yet: an agent that dies leaves them unsent.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from weft.core.ends.conditions import Blocked
from weft.core.errors import Invalid, WeftError
from weft.core.states import AttemptKey, Command, Phase, Reason
from weft.plugins.runners.spawner.guard import Guard
from weft.plugins.runners.spawner.outgoing import Outgoing
from weft.plugins.runners.spawner.start import (
    SpawnerFiles,
    SpawnerLink,
    find_or_start,
    greet,
    left_ends,
    wait_gone,
)
from weft.ports import runner
from weft.ports.executor import ExecutorLimits, JobExecutor, PreparingExecutor, SpawnerExecutor
from weft.ports.runner import Assignment, Ended, Entered, Happened, never_started
from weft.telemetry.log import log
from weft.wire import spawner as wire
from weft.wire.log_format import segment_location


class Preparing:
    """Tells what happens to them, and gives back those that are ready.

    `send`: hands ready attempts to the spawner. `tell`: what else happened.
    """

    def __init__(
        self,
        executors: Mapping[str, JobExecutor],
        send: Callable[[Sequence[Assignment]], None],
        tell: Callable[[Happened], None],
    ) -> None:
        self._executors = {
            name: one for name, one in executors.items() if isinstance(one, PreparingExecutor)
        }
        self._send = send
        self._tell = tell
        self._tasks: dict[AttemptKey, asyncio.Task[None]] = {}

    def take(self, assignments: Sequence[Assignment]) -> Sequence[Assignment]:
        """Return those that need not wait; the others come by `send` later."""
        if not self._executors:
            return assignments
        now, entered = [], []
        for assignment in assignments:
            executor = self._executors.get(assignment.spec.executor)
            if executor is None or assignment.key in self._tasks:
                now.append(assignment)
                continue
            try:
                is_ready = executor.prepared(assignment.key, assignment.spec, _logins(assignment))
            except WeftError as error:
                self._end(assignment.key, error)
                continue
            if is_ready:
                now.append(assignment)
            else:
                entered.append(Entered(assignment.key, Phase.PREPARING))
                task = asyncio.create_task(self._prepare(executor, assignment))
                self._tasks[assignment.key] = task
        if entered:
            self._tell(Happened(entered=entered))
        return now

    def withdraw(self, keys: Sequence[AttemptKey]) -> Sequence[AttemptKey]:
        """Give up those that are not ready; return the rest."""
        mine = [key for key in keys if self._drop(key)]
        if mine:
            self._tell(Happened(withdrawn=mine))
        return [key for key in keys if key not in mine]

    def stop(self, keys: Sequence[AttemptKey], reason: Reason) -> Sequence[AttemptKey]:
        """End those that are not ready; return the rest."""
        mine = [key for key in keys if self._drop(key)]
        if mine:
            now_ns = time.monotonic_ns()
            self._tell(Happened(ended=[never_started(key, reason, now_ns=now_ns) for key in mine]))
        return [key for key in keys if key not in mine]

    def forget(self, keys: Iterable[AttemptKey]) -> None:
        """Keep nothing for attempts whose ends are recorded."""
        for executor in self._executors.values():
            executor.forget(keys)

    def close(self) -> None:
        """Give up all."""
        for key in list(self._tasks):
            self._drop(key)
        for executor in self._executors.values():
            executor.close()

    def _drop(self, key: AttemptKey) -> bool:
        task = self._tasks.pop(key, None)
        if task is None:
            return False
        task.cancel()
        return True

    async def _prepare(self, executor: PreparingExecutor, assignment: Assignment) -> None:
        try:
            await executor.prepare(assignment.key, assignment.spec, _logins(assignment))
        except WeftError as error:
            if self._tasks.pop(assignment.key, None) is not None:
                self._end(assignment.key, error)
            return
        if self._tasks.pop(assignment.key, None) is not None:
            self._send([assignment])

    def _end(self, key: AttemptKey, error: WeftError) -> None:
        self._tell(Happened(ended=[cannot_run(key, error)]))


def cannot_run(key: AttemptKey, error: WeftError) -> Ended:
    """Return the end of an attempt that an executor refuses."""
    reason = getattr(error, "reason", Reason.BAD_SPEC)
    return never_started(key, reason, now_ns=time.monotonic_ns(), message=error.message)


def _logins(one: Assignment) -> Mapping[str, str]:
    return {
        given.use.registry: given.value for given in one.secrets if given.use.registry is not None
    }


_QUIT_S = 0.3
_LOG_STORE: Final = "files"


class WrongLogStore(Invalid, code="WORKER.WRONG_LOG_STORE"):
    """The runner cannot write into the log store that the settings name."""


def open_spawner(site: runner.RunnerSite) -> "SpawnerRunner":
    """Return the spawner of this worker. Raise `WrongLogStore`."""
    if site.log_store != _LOG_STORE:
        raise WrongLogStore(
            f"the runner spawner does not write into the log store {site.log_store}",
            detail=f"Its jobs write their output into files of this host: {_LOG_STORE!r}.",
            hint=f"Set `log_store` to {_LOG_STORE!r}, or `runner` to one that collects output.",
        )
    files = SpawnerFiles(
        socket=site.run / f"spawner-{site.file_name}.sock",
        lock=lock_path(site.run, site.file_name),
        logs=site.logs,
        scratch=site.scratch,
        checkpoints=site.checkpoints,
        own_log=site.role_logs / f"spawner-{site.file_name}.log",
        namespace=site.job_namespace,
        accounts=site.accounts,
        cgroup=None if site.limits.cgroup is None else Path(site.limits.cgroup.directory),
    )
    return SpawnerRunner(
        files,
        # The composition root gives each runner the executors that name it.
        cast("Mapping[str, SpawnerExecutor]", site.executors),
        site.limits,
        wire.Hello(
            site.cpu_m,
            site.memory_mib,
            warm=site.warm,
            gpus=site.gpus,
            sample_ms=site.sampling.period_ms,
            samples_max=site.sampling.count_max,
        ),
    )


def lock_path(run: Path, file_name: str) -> Path:
    """Return the file that the spawner of a worker keeps locked."""
    return run / f"spawner-{file_name}.lock"


class SpawnerRunner:
    """The agent's side of the spawner; see the port for the methods."""

    outlives_host = False

    def __init__(
        self,
        files: SpawnerFiles,
        executors: Mapping[str, SpawnerExecutor],
        limits: ExecutorLimits,
        hello: wire.Hello,
    ) -> None:
        self._files = files
        self._executors = executors
        self._limits = limits
        self._hello = hello
        self._link: SpawnerLink | None = None
        self._is_ending = False
        self._told_of = ""
        self._preparing = Preparing(executors, self._start, self._tell)
        self._guard = Guard(files, lambda: self._send(wire.Acknowledge([])))

    async def adopt(self) -> runner.Known:
        """Find the spawner, or start one after proof that the older one is gone. The ends that one
        which was killed has kept come first, once.
        """
        was_ending, self._is_ending = self._is_ending, False
        self._preparing.close()
        if self._link is not None:
            await wait_gone(self._files)
        while True:
            incarnation, ends = await left_ends(self._files)
            if ends and not was_ending and incarnation != self._told_of:
                self._told_of = incarnation
                return runner.Known(
                    incarnation, older_are_gone=True, ended=[*map(_ended, ends)], is_over=True
                )
            self._link = await find_or_start(self._files)
            self._guard.begin()
            try:
                welcome = await greet(self._link, self._hello)
                has_accounts = welcome.uses_accounts or not self._files.accounts
                if welcome.version == wire.PROTOCOL_VERSION and has_accounts:
                    log.info(
                        "worker.spawner_found",
                        incarnation=welcome.incarnation,
                        pid_namespace=welcome.pid_namespace,
                    )
                    return _known(welcome)
                log.warning("worker.spawner_outdated", version=welcome.version)
                self._link.send(wire.Quit())
                await self._link.gone
            except runner.RunnerGone:
                log.warning("worker.spawner_lost")
            self._link.close()
            await wait_gone(self._files)

    async def submit(self, assignments: Sequence[runner.Assignment]) -> None:
        """Send the attempts in messages of a bounded size."""
        self._start(self._preparing.take(assignments))

    def _start(self, assignments: Sequence[runner.Assignment]) -> None:
        outgoing = Outgoing(self._send, self._executors, self._limits)
        refused = []
        for assignment in assignments:
            try:
                outgoing.add(assignment)
            except Blocked as error:
                refused.append(runner.blocked(assignment.key, error, now_ns=time.monotonic_ns()))
            except WeftError as error:
                refused.append(cannot_run(assignment.key, error))
        outgoing.send()
        if refused:
            self._tell(runner.Happened(ended=refused))

    def _tell(self, happened: runner.Happened) -> None:
        if self._link is not None:
            self._link.tell(happened)

    def withdraw(self, keys: Sequence[AttemptKey]) -> None:
        """Ask for the attempts that were not started."""
        self._send(wire.Withdraw(list(self._preparing.withdraw(keys))))

    def stop(self, keys: Sequence[AttemptKey], *, reason: Reason, grace_ms: int) -> None:
        """Tell the spawner to kill the attempts."""
        self._send(wire.Kill(list(self._preparing.stop(keys, reason)), reason, grace_ms))

    def command(self, commands: Sequence[Command]) -> None:
        """Send the commands."""
        for one in commands:
            self._send(wire.Command(one.number, one.key, one.signal, one.extra_ms))

    def acknowledge(self, keys: Sequence[AttemptKey]) -> None:
        """Tell the spawner to forget the ends."""
        self._preparing.forget(keys)
        self._send(wire.Acknowledge(list(keys)))

    def keep_until(self, until_ns: int, *, database: str = "", return_ns: int = 0) -> None:
        """Set the time at which the spawner kills everything."""
        self._send(wire.Renew(until_ns, database, return_ns))
        self._guard.renew(until_ns)

    async def happened(self) -> AsyncIterator[runner.Happened]:
        """Yield the spawner's reports."""
        assert self._link is not None
        try:
            while True:
                report = await self._link.next_report()
                yield _happened(report) if isinstance(report, wire.Report) else report
        except runner.RunnerGone:
            if not self._is_ending:
                log.warning("worker.spawner_lost")
            raise

    async def end(self) -> None:
        """Tell the spawner to kill everything and to exit."""
        self._preparing.close()
        if self._link is None:
            return
        await self._tell_last(self._link, wire.Quit())

    async def abandon(self) -> None:
        """Tell the spawner to exit when it has nothing left."""
        self._preparing.close()
        if self._link is not None:
            await self._tell_last(self._link, wire.Abandon())

    async def _tell_last(self, link: SpawnerLink, message: wire.AgentMessage) -> None:
        """Send what the spawner answers by closing the connection."""
        self._is_ending = True
        self._guard.stop()
        link.send(message)
        try:
            async with asyncio.timeout(_QUIT_S):
                await asyncio.shield(link.gone)
        except TimeoutError:
            log.warning("worker.spawner_slow")

    def leave(self) -> None:
        """Close the connection."""
        self._preparing.close()
        if self._link is not None:
            is_left = not (self._is_ending or self._link.gone.done())
            self._link.close()
            if is_left:  # the next call of `adopt` finds it again
                self._link = None

    def _send(self, message: wire.AgentMessage) -> bool:
        return self._link is not None and self._link.send(message)


def _known(welcome: wire.Welcome) -> runner.Known:
    return runner.Known(
        welcome.incarnation,
        True,  # noqa: FBT003 (find_or_start starts none before the older one is proved gone)
        welcome.queued,
        [runner.Started(process.key, process.started_ns) for process in welcome.live],
        [_ended(end) for end in welcome.ended],
    )


def _happened(report: wire.Report) -> runner.Happened:
    return runner.Happened(
        [runner.Started(process.key, process.started_ns) for process in report.started],
        (),
        [_ended(end) for end in report.ended],
        report.withdrawn,
        report.obeyed,
    )


def _ended(end: wire.ProcessEnd) -> runner.Ended:
    return runner.Ended(
        end.key,
        end.started_ns,
        end.ended_ns,
        reason_of(end),
        end.exit_code,
        end.signal,
        end.message,
        end.cpu_ms,
        end.memory_peak_bytes,
        end.stdout_bytes,
        end.stderr_bytes,
        end.truncated,
        segment_location(end.segment, end.offset),
    )


def reason_of(end: wire.ProcessEnd) -> int | None:
    """Return why an attempt did not succeed; None if it did."""
    if end.failure is not None:
        return end.failure
    if end.killed_for is not None:
        return end.killed_for
    if end.signal is not None:
        return Reason.SIGNAL
    return Reason.EXIT if end.exit_code else None
