"""Attempts that wait for what their executor brings, such as an image; others overtake them.

They are not known to the spawner yet: an agent that dies leaves them unsent.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from weft.core.errors import WeftError
from weft.core.states import AttemptKey, Phase, Reason
from weft.ports.executor import JobExecutor, PreparingExecutor
from weft.ports.runner import Assignment, Ended, Entered, Happened, never_started


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
