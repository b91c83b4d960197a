"""The loop that tests what blocked jobs wait for together, and lets them go on when it is over.

It waits for its bell, which rings when jobs are blocked on a condition, when a person asks for
something and when a test has ended; and for the date of the next test. Tests run elsewhere
(`LoopContext.test`), and one that takes long delays no other.
"""

import asyncio
from collections.abc import Sequence

from weft.core.conditions import Tested
from weft.driver.loops.loop import Loop, LoopContext
from weft.ports.store import DueCondition
from weft.telemetry import metrics
from weft.telemetry.log import get_logger

log = get_logger()

ROUNDS_MAX = 8
"""Calls of `LoopContext.test` at a time."""
ROUND_CONDITIONS_MAX = 100
PASS_JOBS_MAX = 1_000
"""Jobs per call: some ten milliseconds, so that their rows are not locked for long."""
_SILENT = Tested(passed=False, message="the test did not end in time")
_NO_TESTS = Tested(passed=False, message="this driver makes no tests")


class _Conditions:
    """The rounds of tests that are under way."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context
        self._rounds: dict[asyncio.Task[None], list[int]] = {}

    async def run(self) -> None:
        """Go on until cancelled; the next term repeats tests that were under way."""
        context = self._context
        try:
            while True:
                self._forget_ended()
                await self._let_go()
                await self._begin_rounds()
                await context.bell.heard_by(
                    await context.store.conditions_due(context.epoch, self._busy())
                )
        finally:
            for task in self._rounds:
                task.cancel()
            await asyncio.gather(*self._rounds, return_exceptions=True)

    def _busy(self) -> list[int]:
        return [one for ids in self._rounds.values() for one in ids]

    def _forget_ended(self) -> None:
        """Make room for others, or raise a task's error: then this term is over."""
        for task in [task for task in self._rounds if task.done()]:
            task.result()
            del self._rounds[task]

    async def _let_go(self) -> None:
        """Do what tests and persons have decided."""
        context = self._context
        released = await context.sweep_all("release_conditions", limit_jobs=PASS_JOBS_MAX)
        failed = await context.sweep_all("fail_conditions", limit_jobs=PASS_JOBS_MAX)
        if released or failed:
            context.moved()
            log.debug("conditions.released", jobs=released, failed=failed)

    async def _begin_rounds(self) -> None:
        """Test what is due; a few conditions each by itself, so that none waits for another."""
        context, room = self._context, ROUNDS_MAX - len(self._rounds)
        if not room:
            return
        due = await context.store.due_conditions(
            context.epoch, self._busy(), limit=room * ROUND_CONDITIONS_MAX
        )
        for part in (due[number::room] for number in range(min(room, len(due)))):
            task = asyncio.create_task(self._test(part))
            task.add_done_callback(lambda _: context.bell.ring())
            self._rounds[task] = [one.condition_id for one in part]

    async def _test(self, due: Sequence[DueCondition]) -> None:
        """Make one round of tests, and record what they said."""
        context = self._context
        if context.test is None:
            found = dict.fromkeys((one.condition_id for one in due), _NO_TESTS)
        else:
            found = dict(await context.test(due))
        for one in due:
            tested = found.get(one.condition_id, _SILENT)
            if not tested.passed:
                await self._postpone(one.condition_id)
            await context.store.record_test(context.epoch, one.condition_id, tested)
            metrics.CONDITION_TESTS.labels("passed" if tested.passed else "failed").inc()
            log.info(
                "condition.tested", condition=one.condition_id, tester=one.tester,
                passed=tested.passed, message=tested.message,
            )  # fmt: skip

    async def _postpone(self, condition_id: int) -> None:
        """Let the jobs that are due wait on; those that are locked stay due."""
        store, epoch, moved = self._context.store, self._context.epoch, PASS_JOBS_MAX
        while moved == PASS_JOBS_MAX:
            moved = await store.postpone_blocked(epoch, condition_id, limit_jobs=PASS_JOBS_MAX)


async def _run(context: LoopContext) -> None:
    await _Conditions(context).run()


LOOP = Loop("conditions", _run)
