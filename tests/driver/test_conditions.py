"""The loop that tests conditions: what it asks, and that no test waits for another."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from contexts import beside
from driver.fake_store import FakeDriverStore, FakeNotices
from driver.test_loops import SETTINGS
from weft.core.ends import conditions
from weft.driver.adapters import Adapters
from weft.driver.lead import Driver
from weft.driver.loops.conditions import ConditionTester
from weft.ports.store import DueCondition

YES = conditions.Tested(passed=True, message="yes")


def some(*numbers: int) -> list[DueCondition]:
    return [DueCondition(number, "tcp", {"host": "h"}) for number in numbers]


class Answers:
    """Answers for some conditions when it is told to."""

    def __init__(self, *slow: int) -> None:
        self.asked: list[int] = []
        self.slow = set(slow)
        self.go_on = asyncio.Event()

    async def test(self, one: DueCondition) -> conditions.Tested | None:
        self.asked.append(one.condition_id)
        if one.condition_id in self.slow:
            await self.go_on.wait()
            return None
        return YES


@asynccontextmanager
async def driving(store: FakeDriverStore, tests: Answers | None) -> AsyncIterator[None]:
    driver = Driver(
        store,
        FakeNotices(),
        SETTINGS,
        Adapters() if tests is None else Adapters(ConditionTester(tests.test)),
        on_state=lambda _: None,
    )
    async with beside(driver.run()):
        yield


async def test_what_many_tests_say_is_recorded_together_before_jobs_are_released() -> None:
    store, tests = FakeDriverStore(), Answers()
    store.conditions.append(some(*range(1, 301)))
    async with driving(store, tests):
        await store.until("release_conditions", 2)

    assert store.tested == dict.fromkeys(range(1, 301), YES)
    assert (store.calls["record_tests"], store.calls["postpone_conditions"]) == (1, 0)


async def test_what_is_over_is_not_tested() -> None:
    store, tests = FakeDriverStore(), Answers()
    store.conditions.append([DueCondition(1, "tcp", {}, is_over=True), *some(2)])
    with capture_logs() as told:
        async with driving(store, tests):
            await store.until("record_tests", 1)

    assert tests.asked == [2]
    assert [one["condition"] for one in told if one["event"] == "condition.closed"] == [1]


async def test_test_that_takes_long_delays_no_other() -> None:
    """It is not begun again meanwhile; and when it says nothing, it has not passed."""
    store, tests = FakeDriverStore(), Answers(1)
    store.conditions.extend([some(1, 2), some(3)])
    async with driving(store, tests):
        await store.until("record_tests", 2)
        others = set(store.tested)
        tests.go_on.set()
        await store.until("record_tests", 3)

    assert others == {2, 3}
    assert sorted(tests.asked) == [1, 2, 3]
    assert [1] in store.busy
    assert not store.tested[1].passed
    assert store.calls["postpone_conditions"] == 1


@pytest.mark.parametrize(
    ("tester", "given", "said"),
    [
        ("pool", {"pool": "gpu", "cpu": "1.5"}, "c1: gpu 1500"),
        ("pool", {"pool": "gpu"}, "c1: gpu 0"),
        ("pool", {}, "the tester pool needs the parameter 'pool'"),
        ("pool", {"pool": "x", "cpu": "no"}, ""),
        ("pool", {"pool": "x", "size": "9"}, "no parameter 'size'"),
        ("gateway", {"gateway": "hpc"}, "c1: hpc"),
        ("gateway", {}, "needs the parameter 'gateway'"),
        ("gateway", {"gateway": "hpc", "size": "9"}, ""),
    ],
)
async def test_pools_and_gateways_are_looked_at_in_the_database(
    tester: str, given: dict[str, str], said: str
) -> None:
    """Also if the driver makes no other tests; wrong parameters are told."""
    store = FakeDriverStore()
    store.conditions.append([DueCondition(1, tester, given)])
    async with driving(store, None):
        await store.until("release_conditions", 2)

    assert store.tested[1].passed == said.startswith("c1: ")
    assert said in store.tested[1].message


async def test_jobs_wait_on_once_for_each_test() -> None:
    """Those that are due again before the last one waits on have to wait for the next test; all
    wait where the driver makes none.
    """
    store = FakeDriverStore()
    store.conditions.append(some(1))
    store.postponing.extend([9, 9])
    async with driving(store, None):
        await store.until("record_tests", 1)

    first, second, third = store.postponed
    assert 0 <= first < second < third
    assert not store.tested[1].passed
