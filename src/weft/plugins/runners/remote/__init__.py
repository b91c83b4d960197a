"""The common part of all remote runners: durable handles, names, adoption (ADR 21, ADR 31).

A remote runner is a `RemoteRunner` with an `Engine`. This package must not know any engine.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress

import msgspec

from weft.core.ends.conditions import Blocked
from weft.core.errors import Unavailable, WeftError
from weft.core.scheduling.pool_tester import GATEWAY
from weft.core.states import AttemptKey, Command, Phase, Reason
from weft.plugins.runners.remote.black_nodes import BlackNodes
from weft.plugins.runners.remote.ends import (
    Forgetting,
    LeftFiles,
    Missing,
    Notes,
    at_ns,
    ended_by,
    tell_attempt,
)
from weft.plugins.runners.remote.engine import Engine, GuardedEngine, Left, Status
from weft.plugins.runners.remote.handles import Handle, Handles
from weft.plugins.runners.remote.outputs import Outputs
from weft.ports import runner
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import LogWriter
from weft.ports.patience import wait_at_most
from weft.telemetry.log import log

__all__ = ["Engine", "Left", "RemoteRunner", "Status"]


_AWAY_S = 1.0
_END_S = 10.0


class RemoteRunner:
    """A runner whose attempts are run by an engine; see the port for the methods."""

    outlives_host = True

    def __init__(
        self,
        engine: Engine,
        handles: Handles,
        logs: LogWriter,
        gateway: str,
        close: Callable[[], None] = lambda: None,
        limits: ExecutorLimits | None = None,
    ) -> None:
        self._engine = GuardedEngine(engine)
        self._gateway = gateway
        """The name of the worker, by which its attempts ask whether the engine answers again."""
        self._close = close
        """Lets go of what the engine holds open."""
        self._handles = handles
        self._left = LeftFiles(limits)
        self._forgetting = Forgetting(self._engine, handles, lambda key: key in self._held)
        self._outputs = Outputs(self._engine, logs, lambda key: self._held.get(key))  # noqa: PLW0108 (`adopt` replaces it)
        self._held: dict[AttemptKey, Handle] = {}
        self._unsubmitted: dict[AttemptKey, Handle] = {}
        """Attempts with a handle that were not submitted yet."""
        self._unsure: set[AttemptKey] = set()
        """Those of them of which the engine could not say whether it has them."""
        self._submitting: dict[AttemptKey, asyncio.Event] = {}
        """Attempts on their way to the engine; the event is set when they are there, or ended."""
        self._giving: set[asyncio.Future[None]] = set()
        """Submissions under way, also of what an earlier agent could not submit."""
        self._unanswered: set[asyncio.Event] = set()
        """Those that got no answer yet, by the event of their first try."""
        self._is_silent = False
        """Whether the last question for statuses got no answer."""
        self._told: dict[AttemptKey, Phase | None] = {}
        """The last reported phase of each attempt; None: its end was reported."""
        self._missing = Missing(handles)
        self._notes = Notes()
        self._nodes = BlackNodes()
        self._withdrawing: set[AttemptKey] = set()
        self._own: list[runner.Happened] = []
        """Events that did not come from the engine."""
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def adopt(self) -> runner.Known:
        """Ask the engine about every attempt with a handle. While it is away all of them wait: the
        worker is there all the same, and what they are is told later. But what an earlier agent
        was to end is ended first, whatever became of it.
        """
        self._handles.hold()
        self._held = {handle.assignment.key: handle for handle in self._handles.all()}
        self._missing.adopt(self._held)
        if self._handles.is_ending:
            await self._end_all()
        self._told.clear()
        self._notes.clear()
        self._outputs.clear()
        self._withdrawing.clear()
        self._forgetting.clear()
        self._own.clear()
        statuses: Mapping[AttemptKey, Status] = {}
        self._unsure.clear()
        try:
            statuses = await self._ask(self._held)
        except Unavailable as error:
            log.warning("worker.engine_away", held=len(self._held), why=error.message)
            self._unsure.update(self._held)
            if stopped := [k for k, h in self._held.items() if h.stop_reason is not None]:
                self._later(self._until_stopped(stopped, grace_ms=0))
        self._missing.given(statuses)
        self._unsubmitted = {
            k: h for k, h in self._held.items() if k not in statuses and not self._missing.has(k)
        }
        live, ended = [], []
        for key, status in statuses.items():
            if status.ended_s_ago is not None:
                ended += await self._ends_of(key, status)
                continue
            self._told[key] = status.phase
            if status.started_s_ago is not None:
                live.append(self._started(key, status.started_s_ago))
                self._outputs.follow(key, status)
            if self._held[key].stop_reason is not None:
                self._later(self._until_stopped([key], grace_ms=0))
        known = {started.key for started in live} | {one.key for one in ended}
        waiting = [key for key in self._held if key not in known]
        name = self._handles.incarnation()
        return runner.Known(name, self._handles.older_are_gone(), waiting, live, ended)

    async def submit(self, assignments: Sequence[runner.Assignment]) -> None:
        """Write a handle for each attempt, then give them to the engine together. Return when it
        has answered or not: what got no answer is submitted again beside this.
        """
        new = [Handle(one) for one in assignments if one.key not in self._held]
        if self._unanswered or self._is_silent:
            new = self._refuse(new)
        keys = [handle.assignment.key for handle in new]
        self._missing.again(keys)
        self._handles.put(new)
        for key, handle in zip(keys, new, strict=True):
            self._held[key] = self._unsubmitted[key] = handle
        self._outputs.begin(keys)
        tried = asyncio.Event()
        giving = asyncio.ensure_future(self._give(keys, tried))
        self._giving.add(giving)
        await tried.wait()
        if giving.done():
            giving.result()

    def _refuse(self, new: Sequence[Handle]) -> list[Handle]:
        """Block new attempts while the engine is away; return one of them, which is submitted to
        ask it again, or none if another already asks. Its phase tells the database (ADR 129).
        """
        tries = 0 if self._submitting else 1
        error = Blocked(
            "executor_unavailable",
            GATEWAY,
            {GATEWAY: self._gateway},
            message="the gateway's engine does not answer",
        )
        for handle in new[tries:]:
            self._tell_unsubmitted(
                runner.blocked(handle.assignment.key, error, now_ns=time.monotonic_ns())
            )
        return [*new[:tries]]

    def withdraw(self, keys: Sequence[AttemptKey]) -> None:
        """Stop the attempts that have not begun."""
        mine = []
        for key in keys:
            if key not in self._unsure and self._unsubmitted.pop(key, None) is not None:
                self._own_withdrawn(key)
            elif key in self._held and self._held[key].stop_reason is None:
                mine.append(key)
        self._withdrawing.update(mine)
        self._wake.set()

    def stop(self, keys: Sequence[AttemptKey], *, reason: Reason, grace_ms: int) -> None:
        """Record the reason durably, then tell the engine until it answers."""
        theirs = []
        for key in keys:
            if key not in self._held or self._told.get(key, Phase.ASSIGNED) is None:
                continue
            self._note_stop(key, reason)
            if key not in self._unsure and self._unsubmitted.pop(key, None) is not None:
                self._end_unsubmitted(key, reason)
            else:
                theirs.append(key)
        if theirs:
            self._later(self._until_stopped(theirs, grace_ms=grace_ms))

    def _note_stop(self, key: AttemptKey, reason: Reason) -> None:
        noted = msgspec.structs.replace(self._held[key], stop_reason=int(reason))
        self._held[key] = noted
        self._handles.put([noted])

    def command(self, commands: Sequence[Command]) -> None:
        """Tell the engine, once: a signal that comes later means something else."""
        self._later(self._tell(commands))

    async def _tell(self, commands: Sequence[Command]) -> None:
        """Say of each what came of it."""
        for command in commands:
            known = self._held.get(command.key), self._told.get(command.key)
            why = await tell_attempt(self._engine, command, *known)
            self._own.append(runner.Happened(obeyed=[(command.number, why)]))
            self._wake.set()

    def acknowledge(self, keys: Sequence[AttemptKey]) -> None:
        """Remove the handles, and the engine's data."""
        ended = [key for key in keys if self._held.pop(key, None) is not None]
        for key in keys:
            self._told.pop(key, None)
            self._notes.forget(key)
        self._outputs.forget(keys)
        self._missing.forget(keys)
        self._withdrawing.difference_update(keys)
        if ended:
            self._forgetting.add(ended)
            self._later(self._forgetting.go_on())

    def keep_until(self, until_ns: int, *, database: str = "", return_ns: int = 0) -> None:
        """Do nothing: the engine has its own limit (ADR 21)."""

    async def happened(self) -> AsyncIterator[runner.Happened]:
        """Submit what an earlier agent could not submit, then yield the engine's news."""
        unsubmitted = self._give(list(self._unsubmitted), asyncio.Event())
        self._giving.add(asyncio.ensure_future(unsubmitted))
        while True:
            self._wake.clear()
            own, self._own = self._own, []
            for one in own:
                yield one
            for giving in [one for one in self._giving if one.done()]:
                self._giving.discard(giving)
                if not giving.cancelled():
                    giving.result()  # raise what went wrong
            try:
                keys = self._missing.asked()
                statuses = await self._ask(self._held)
                statuses |= self._missing.lost(keys, statuses)
                await self._stop_withdrawn(statuses)
                self._is_silent = False
                happened = await self._news(statuses)
            except Unavailable:
                self._is_silent = True
                await wait_at_most(_AWAY_S, self._wake)
                continue
            for news in (happened, self._nodes.news()):
                if news is not None:
                    yield news
            if not self._own:
                await self._engine.changed_or(self._wake)

    async def end(self) -> None:
        """Stop all, and take a new name once the engine confirms it; else `adopt` goes on."""
        self._give_nothing_more()
        self._handles.note_ending()
        with suppress(Unavailable):
            await self._end_all()

    async def _end_all(self) -> None:
        keys = list(self._held)
        try:
            async with asyncio.timeout(_END_S):
                await self._engine.settle([k.name for k in keys if not self._missing.has(k)])
                if keys:
                    await self._engine.stop([key.name for key in keys], grace_ms=0)
                await self._until_all_ended(keys)
                self._held.clear()
                await self._forgetting.forget(keys)
        except TimeoutError as error:
            hint = f"It is asked again: {len(keys)} attempts were to end."
            raise Unavailable("the engine has not ended all", hint=hint) from error
        self._handles.begin_incarnation()

    async def abandon(self) -> None:
        """Do nothing: what the engine runs waits for the next agent."""

    def leave(self) -> None:
        """Release the state directory."""
        self._give_nothing_more()
        for task in self._tasks:
            task.cancel()
        self._close()
        self._handles.let_go()

    def _give_nothing_more(self) -> None:
        self._outputs.clear()
        for giving in self._giving:
            giving.cancel()
        self._giving.clear()

    async def _give(self, keys: Sequence[AttemptKey], tried: asyncio.Event) -> None:
        """Submit attempts, but for those that are stopped or withdrawn in the meantime."""
        given = [key for key in keys if self._unsubmitted.pop(key, None) is not None]
        is_over = asyncio.Event()
        self._submitting.update(dict.fromkeys(given, is_over))
        if given:  # at once: leases go back soon
            self._own.append(
                runner.Happened(entered=[runner.Entered(key, Phase.SUBMITTING) for key in given])
            )
            self._wake.set()
        try:
            await self._until_there(given, tried)
        finally:
            tried.set()
            self._unanswered.discard(tried)
            for key in given:
                del self._submitting[key]
                self._unsure.discard(key)
            is_over.set()
            self._wake.set()

    async def _until_there(self, keys: Sequence[AttemptKey], tried: asyncio.Event) -> None:
        while keys:
            wanted = [key for key in keys if self._is_wanted(key)]
            others = [key for key in keys if key not in wanted]
            try:
                await self._forgetting.before(wanted)
                self._engine.avoid(self._nodes.avoided())
                refused = await self._engine.submit(
                    {key.name: self._held[key].assignment for key in wanted}
                )
                if others:
                    await self._engine.settle([key.name for key in others])
                there = await self._ask(others)
            except Unavailable as error:
                if not tried.is_set():
                    log.warning("worker.engine_away", why=error.message)
                self._unanswered.add(tried)
                tried.set()
                await asyncio.sleep(_AWAY_S)
                continue
            for key in others:
                if key not in there:
                    self._give_up(self._held[key])
            self._tell_given(wanted, refused)
            return

    def _is_wanted(self, key: AttemptKey) -> bool:
        """Say whether to submit. What an earlier agent could not has lost its secrets' values,
        which no handle has: its job is given back, and comes with them again.
        """
        handle = self._held[key]
        assignment = handle.assignment
        if assignment.spec.secrets and not assignment.secrets:
            return False
        return handle.stop_reason is None and key not in self._withdrawing

    def _tell_given(
        self, keys: Sequence[AttemptKey], refused: Mapping[str, WeftError | Blocked]
    ) -> None:
        """Say what waits in the engine and what it refused."""
        waiting = []
        for key in keys:
            error = refused.get(key.name)
            if error is None:
                self._told[key] = Phase.QUEUED_REMOTE
                waiting.append(runner.Entered(key, Phase.QUEUED_REMOTE))
            elif isinstance(error, Blocked):
                self._tell_unsubmitted(runner.blocked(key, error, now_ns=time.monotonic_ns()))
            else:
                self._end_unsubmitted(key, Reason.BAD_SPEC, error.message)
        if waiting:
            self._missing.given(entered.key for entered in waiting)
            self._own.append(runner.Happened(entered=waiting))

    def _give_up(self, handle: Handle) -> None:
        """Report an attempt that must not be submitted any more."""
        if handle.stop_reason is not None:
            self._end_unsubmitted(handle.assignment.key, Reason(handle.stop_reason))
        else:
            self._own_withdrawn(handle.assignment.key)

    async def _until_stopped(self, keys: Sequence[AttemptKey], *, grace_ms: int) -> None:
        """Repeat a stop until the engine has answered it."""
        for key in keys:
            if key in self._submitting:
                await self._submitting[key].wait()
        while live := [key for key in keys if self._is_live(key)]:
            try:
                await self._engine.stop([key.name for key in live], grace_ms=grace_ms)
            except Unavailable:
                await asyncio.sleep(_AWAY_S)
            else:
                return

    def _is_live(self, key: AttemptKey) -> bool:
        return key in self._held and self._told.get(key, Phase.ASSIGNED) is not None

    async def _stop_withdrawn(self, statuses: Mapping[AttemptKey, Status]) -> None:
        """Stop what waits in the engine and is withdrawn: at each look, until it has ended."""
        waiting = []
        for key in self._withdrawing & statuses.keys():
            status = statuses[key]
            if status.started_s_ago is not None:
                self._withdrawing.discard(key)
            elif status.ended_s_ago is None and key not in self._submitting:
                waiting.append(key.name)
                if self._held[key].stop_reason is None:  # it may begin before it is stopped
                    self._note_stop(key, Reason.PREEMPTED)
        if waiting:
            await self._engine.stop(waiting, grace_ms=0)

    async def _until_all_ended(self, keys: Sequence[AttemptKey]) -> None:
        while any(status.ended_s_ago is None for status in (await self._ask(keys)).values()):
            await self._engine.changed()

    async def _ask(self, keys: Iterable[AttemptKey]) -> dict[AttemptKey, Status]:
        by_name = {key.name: key for key in keys}
        found = await self._engine.statuses(list(by_name)) if by_name else {}
        for name, status in found.items():
            if status.progress:
                self._left.say(by_name[name], status.progress)
        return {by_name[name]: status for name, status in found.items()}

    async def _news(self, statuses: Mapping[AttemptKey, Status]) -> runner.Happened | None:
        started: list[runner.Started] = []
        entered: list[runner.Entered] = []
        ended: list[runner.Ended] = []
        withdrawn: list[AttemptKey] = []
        for key, status in statuses.items():
            phase = self._told.get(key, Phase.ASSIGNED)
            # The end of one on its way would be forgotten when recorded, and it submitted again.
            if phase is None or key in self._submitting:
                continue
            if phase == status.phase and status.ended_s_ago is None:
                if note := self._notes.news(key, status.message):
                    entered.append(runner.Entered(key, phase, note))
                continue
            if status.ended_s_ago is not None:
                if key in self._withdrawing and status.started_s_ago is None:
                    withdrawn.append(key)
                else:
                    ended += await self._ends_of(key, status)
                continue
            self._told[key] = status.phase
            self._outputs.follow(key, status)
            if status.started_s_ago is not None and phase < Phase.EXECUTING:
                started.append(self._started(key, status.started_s_ago))
            note = self._notes.of_phase(key, status.message)
            if note or status.phase != Phase.EXECUTING:
                entered.append(runner.Entered(key, status.phase, note))
        if withdrawn:
            self.acknowledge(withdrawn)
        if not (started or entered or ended or withdrawn):
            return None
        return runner.Happened(started, entered, ended, withdrawn)

    def _started(self, key: AttemptKey, seconds_ago: float) -> runner.Started:
        started = runner.Started(key, at_ns(seconds_ago))
        self._missing.begun(key, started.started_ns)
        return started

    async def _ends_of(self, key: AttemptKey, status: Status) -> list[runner.Ended]:
        """Return the end; nothing if the engine does not give what was left: it comes again."""
        with suppress(Unavailable):
            ended = await self._end_of(key, status)
            self._told[key] = None
            return [ended]
        return []

    async def _end_of(self, key: AttemptKey, status: Status) -> runner.Ended:
        """Collect what is left of the output, and return the end."""
        stored, location = await self._outputs.collect(key, status)
        handle = self._held.get(key)
        stop_reason = None if handle is None else handle.stop_reason
        said = ended_by(key, status, stop_reason, stored, location)
        ended = said if status.is_gone else await self._left.bring(self._engine, said)
        self._nodes.ended(status.node, ended)
        return ended

    def _end_unsubmitted(self, key: AttemptKey, reason: Reason, message: str = "") -> None:
        now_ns = time.monotonic_ns()
        self._tell_unsubmitted(runner.never_started(key, reason, now_ns=now_ns, message=message))

    def _tell_unsubmitted(self, ended: runner.Ended) -> None:
        self._told[ended.key] = None
        self._own.append(runner.Happened(ended=[ended]))
        self._wake.set()

    def _own_withdrawn(self, key: AttemptKey) -> None:
        """Forget an attempt that the engine does not have."""
        del self._held[key]
        self._handles.remove(key)
        self._withdrawing.discard(key)
        self._own.append(runner.Happened(withdrawn=[key]))
        self._wake.set()

    def _later(self, work: Coroutine[None, None, None]) -> None:
        """Do something in the background; should it fail, the next `adopt` finds what is left."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()
        self._wake.set()
