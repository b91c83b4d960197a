"""The loop that tests what blocked jobs wait for together, and lets them go on when it is over.

It waits for its bell, which rings when jobs are blocked on a condition, when a person asks for
something and when a test has ended; and for the date of the next test. Tests run elsewhere
(`ConditionTester`), each by itself, so that one that takes long delays no other. What they say is
recorded in sets.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from weft.core.ends.conditions import MESSAGE_CHARS_MAX, Tested
from weft.core.scheduling.pool_tester import GATEWAY, POOL, read_gateway_ask, read_pool_ask
from weft.core.settling import settled
from weft.driver.loops.loop import Loop, LoopContext
from weft.ports.patience import tasks_beside
from weft.ports.store import DueCondition
from weft.telemetry import metrics
from weft.telemetry.log import log

TESTS_MAX: Final = 1_000
"""Under way at a time; a tenant has at most half of them."""
PASS_JOBS_MAX: Final = 1_000
"""Jobs per call: some ten milliseconds, so that their rows are not locked for long."""
RELEASED_MAX: Final = 5_000
"""Many lie close to each other, so that they get a range: some tens of milliseconds."""
# With many tests under way, a set for each that ends would cost a multiple of the tests.
_MANY: Final = 20
_GATHER_S: Final = 0.05
_SILENT = Tested(passed=False, message="the test did not end in time")
_NO_TESTS = Tested(passed=False, message="this driver makes no tests")


@dataclass(frozen=True)
class ConditionTester:
    """Tests conditions, away from this process. Without it, what jobs wait for is never over."""

    test: Callable[[DueCondition], Awaitable[Tested | None]]
    """None: it did not answer in time."""


class _Conditions:
    """The tests that are under way."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context
        self._tester = context.adapters.get(ConditionTester)
        self._tests: dict[asyncio.Task[Tested], DueCondition] = {}

    async def run(self) -> None:
        """Go on until cancelled; the next term repeats tests that were under way."""
        context = self._context
        async with tasks_beside(self._tests):
            while True:
                await self._record()
                await self._let_go()
                await self._begin_tests()
                await context.bell.heard_by(
                    await context.store.loop_due(
                        context.epoch, "conditions", self._busy(), limit=TESTS_MAX
                    )
                )
                if len(self._tests) > _MANY:
                    await asyncio.sleep(_GATHER_S)

    def _busy(self) -> list[int]:
        return [test.condition_id for test in self._tests.values()]

    async def _record(self) -> None:
        """Record what ended tests said, or raise a task's error: then this term is over."""
        store, epoch = self._context.store, self._context.epoch
        ended = {
            condition.condition_id: (condition, task.result())
            for task, condition in self._tests.items()
            if task.done()
        }
        if not ended:
            return
        failed = [number for number, (_, tested) in ended.items() if not tested.passed]
        if failed:
            await self._postpone(failed)
        found = {number: tested for number, (_, tested) in ended.items()}
        for number in await store.record_tests(epoch, found):
            condition, tested = ended[number]
            log.info(
                "condition.tested",
                condition=number,
                tester=condition.tester,
                passed=tested.passed,
                message=tested.message,
            )
        metrics.CONDITION_TESTS.labels("failed").inc(len(failed))
        metrics.CONDITION_TESTS.labels("passed").inc(len(ended) - len(failed))
        self._tests = {
            task: condition
            for task, condition in self._tests.items()
            if condition.condition_id not in ended
        }

    async def _postpone(self, failed: Sequence[int]) -> None:
        """Let the jobs that are due now wait on; those that are locked stay due."""
        store, epoch, begun = self._context.store, self._context.epoch, time.monotonic()
        while await store.postpone_conditions(
            epoch, failed, limit_jobs=PASS_JOBS_MAX, due_s=time.monotonic() - begun
        ):
            pass

    async def _let_go(self) -> None:
        """Do what tests and persons have decided."""
        context = self._context
        released = await context.sweep_all("release_conditions", limit_jobs=RELEASED_MAX)
        failed = await context.sweep_all("fail_conditions", limit_jobs=PASS_JOBS_MAX)
        if released or failed:
            context.moved()
            log.debug("conditions.released", jobs=released, failed=failed)

    async def _begin_tests(self) -> None:
        """Test what is due."""
        context = self._context
        for one in await context.store.due_conditions(
            context.epoch, self._busy(), limit=TESTS_MAX
        ):
            if one.is_over:
                log.info("condition.closed", condition=one.condition_id, tester=one.tester)
                continue
            metrics.CONDITION_TEST_LATE_SECONDS.observe(one.late_s)
            task = asyncio.create_task(self._test(one))
            task.add_done_callback(lambda _: context.bell.ring())
            self._tests[task] = one

    async def _test(self, condition: DueCondition) -> Tested:
        if condition.tester == POOL:
            return await self._test_pool(condition)
        if condition.tester == GATEWAY:
            return await self._test_gateway(condition)
        if self._tester is None:
            return _NO_TESTS
        return await settled(self._tester.test(condition), _mistaken, beyond=()) or _SILENT

    async def _test_pool(self, condition: DueCondition) -> Tested:
        """Ask the database, which no other tester may reach."""
        try:
            pool, cpu_m = read_pool_ask(condition.parameters)
        except ValueError as error:
            return Tested(passed=False, message=str(error)[:MESSAGE_CHARS_MAX])
        store, epoch = self._context.store, self._context.epoch
        return await store.test_pool(epoch, condition.condition_id, pool, cpu_m)

    async def _test_gateway(self, condition: DueCondition) -> Tested:
        """Ask the database what the gateway has told of its engine."""
        try:
            gateway = read_gateway_ask(condition.parameters)
        except ValueError as error:
            return Tested(passed=False, message=str(error))
        store, epoch = self._context.store, self._context.epoch
        return await store.test_gateway(epoch, condition.condition_id, gateway)


def _mistaken(error: Exception) -> Tested:
    return Tested(passed=False, message=repr(error)[:MESSAGE_CHARS_MAX])


async def _run(context: LoopContext) -> None:
    await _Conditions(context).run()


LOOP = Loop("conditions", _run)
