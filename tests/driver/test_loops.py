"""The driver's loops against a store that only answers: who looks when, and who sleeps; and as
data: what SQL and Python say about them agrees.
"""

import asyncio
import itertools
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contexts import beside
from driver.fake_store import FakeDriverStore, FakeNotices
from weft.core.errors import DiskFull, GroupNotFound, Unavailable, WeftError
from weft.driver.adapters import Adapters
from weft.driver.lead import FIRST, Driver, Term
from weft.driver.loops import LOOPS, reaper
from weft.driver.loops.deliveries import Post
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.operations import STEPS, advance_operation
from weft.ports.store import Folded, Operation
from weft.settings import Settings
from weft.sql import files_of

SETTINGS = Settings(home=Path("/nowhere"), heartbeat_s=3600)


class Running:
    """A driver at work."""

    def __init__(self, settings: Settings = SETTINGS) -> None:
        self.store = FakeDriverStore()
        self.notices = FakeNotices()
        self.states: list[str] = []
        self.driver = Driver(
            self.store, self.notices, settings, Adapters(), on_state=self.states.append
        )

    async def until(self, function: str, count: int) -> None:
        """Return when a function was called so often, and every loop waits again."""
        await self.store.until(function, count)
        await self.settled()

    async def settled(self) -> None:
        """Return when every loop waits: many turns of the event loop without a call."""
        async with asyncio.timeout(30):
            quiet = 0
            while quiet < 100:
                before = self.store.calls.total()
                await asyncio.sleep(0)
                quiet = quiet + 1 if self.store.calls.total() == before else 0


@asynccontextmanager
async def running(driver: Running) -> AsyncIterator[Running]:
    async with beside(driver.driver.run()):
        yield driver


@asynccontextmanager
async def at_rest(found: Running) -> AsyncIterator[Running]:
    """Give a driver that sleeps."""
    async with running(found):
        await found.store.until("idle_driver", 1)
        await found.notices.listening.wait()
        await found.settled()
        yield found


async def test_idle_driver_asks_nothing() -> None:
    async with running(Running()) as driver:
        await driver.until("idle_driver", 1)
        before = driver.store.calls.copy()
        await driver.settled()

        assert driver.states == ["leader"]
        assert driver.store.calls == before
        assert driver.store.calls["fold_deltas"] == driver.store.calls["idle_driver"]


@pytest.mark.parametrize("does", ["send", "lose"], ids=["notice", "break of the connection"])
async def test_the_fold_is_woken_at_once(does: str) -> None:
    async with at_rest(Running()) as driver:
        folds = driver.store.calls["fold_deltas"]
        driver.store.folds.append(3)
        getattr(driver.notices, does)()
        await driver.store.until("fold_deltas", folds + 1)

        assert not driver.store.folds


async def test_notice_wakes_no_loop_for_which_the_fold_finds_nothing() -> None:
    """A job that was just submitted is starting on these cores."""
    async with at_rest(Running()) as driver:
        before = driver.store.calls.copy()
        driver.notices.send()
        await driver.until("idle_driver", before["idle_driver"] + 1)

        assert set(driver.store.calls - before) == {"fold_deltas", "idle_driver"}


async def test_fold_goes_on_until_nothing_is_left() -> None:
    driver = Running()
    driver.store.folds.extend([10, 5, 1])
    async with running(driver):
        await driver.store.until("idle_driver", 1)

    assert driver.store.calls["fold_deltas"] >= 4
    assert not driver.store.folds


async def test_driver_does_not_sleep_while_the_database_says_there_is_something() -> None:
    driver = Running()
    driver.store.idle.extend([False, False])
    async with running(driver):
        await driver.store.until("idle_driver", 3)

    assert driver.store.calls["fold_deltas"] >= 3


async def test_sweep_repeats_until_nothing_is_left_and_lets_the_fold_see_it() -> None:
    async with at_rest(Running()) as driver:
        folds, sweeps = driver.store.calls["fold_deltas"], driver.store.calls["sweep_cancelled"]
        driver.store.sweeps.extend([5000, 5000, 17])
        driver.store.parked.extend([2000, 1])
        driver.notices.send()
        await driver.store.until("sweep_cancelled", sweeps + 4)
        await driver.store.until("fold_deltas", folds + 2)

        await driver.store.until("sweep_holds", 3)
        assert not driver.store.sweeps
        assert not driver.store.parked


async def test_children_are_settled_without_a_pause_beside_a_sweep() -> None:
    async with at_rest(Running()) as driver:
        settles = driver.store.calls["settle_children"]
        driver.store.children.extend([5000, 5000, 17])
        driver.store.sweeps.extend([5000] * 100)
        driver.notices.send()
        await driver.store.until("settle_children", settles + 4)

        assert not driver.store.children
        assert driver.store.sweeps
        assert driver.store.calls["count_parent_ends"] >= driver.store.calls["settle_children"]


async def test_notice_of_children_wakes_the_settling_of_a_driver_that_is_awake() -> None:
    """And no other loop: near the last of many parents it comes with each report."""
    async with at_rest(Running()) as driver:
        before = driver.store.calls.copy()
        driver.store.counted.append(1)
        driver.notices.send(payload="settle")
        await driver.store.until("settle_children", before["settle_children"] + 1)
        driver.notices.send(payload="settle")
        await driver.until("settle_children", before["settle_children"] + 2)
        asked = driver.store.calls - before

        assert asked == {"count_parent_ends": 2, "settle_children": 2}


async def test_sweep_lets_the_children_of_what_it_cancelled_be_settled() -> None:
    async with at_rest(Running()) as driver:
        settles = driver.store.calls["settle_children"]
        driver.store.sweeps.extend([10, 10])
        driver.notices.send()
        await driver.store.until("settle_children", settles + 2)


async def test_awake_driver_sweeps_with_each_fold_because_nobody_sends_notices() -> None:
    driver = Running()
    driver.store.folds.extend([1, 1, 1, 1])
    async with running(driver):
        await driver.store.until("fold_deltas", 4)
        driver.store.sweeps.append(9)
        await driver.until("idle_driver", 1)

    assert not driver.store.sweeps


async def test_reaper_looks_when_the_first_worker_is_due() -> None:
    driver = Running(replace(SETTINGS, lost_after_s=0.1))
    driver.store.dates["reaper"].append(-5.0)
    async with running(driver):
        await driver.store.until("lose_workers", 1)

    assert driver.store.calls["lose_workers"] == 1


async def test_reaper_waits_for_those_whom_an_absent_database_made_silent() -> None:
    driver = Running(replace(SETTINGS, lost_after_s=3600))
    driver.store.dates["reaper"].append(-5.0)
    async with running(driver):
        await driver.until("idle_driver", 1)

    assert driver.store.calls["lose_workers"] == 0


async def test_reaper_waits_for_those_that_were_suspended_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A laptop with all of weft: when it is awake again, every worker has been silent for long."""
    suspended_s = itertools.chain([0.0], itertools.repeat(3600.0))
    monkeypatch.setattr(reaper, "_suspended_s", lambda: next(suspended_s))
    driver = Running(replace(SETTINGS, lost_after_s=0.1))
    driver.store.dates["reaper"].extend([-3600.0, -3600.0])
    async with running(driver):
        await driver.store.until("lose_workers", 1)

    assert driver.store.calls["reaper due"] == 2


@pytest.mark.parametrize(
    ("loop", "step"),
    [
        ("gates", "pass_gates"),
        ("deadlines", "sweep_deadlines"),
        ("recovery", "release_blocked"),
        ("conditions", "due_conditions"),
        ("terms", "end_terms"),
    ],
)
async def test_step_is_taken_at_the_date_that_the_database_names(loop: str, step: str) -> None:
    driver = Running()
    driver.store.dates[loop].extend([0.01, None])
    async with running(driver):
        await driver.store.until(step, 2)
        await driver.until(f"{loop} due", 2)

    assert driver.store.calls[step] == 2


async def test_heartbeat_brings_a_new_date_to_the_gates() -> None:
    """A place may have become stuck since the loop asked."""
    driver = Running(replace(SETTINGS, heartbeat_s=0.02))
    async with running(driver):
        await driver.until("idle_driver", 1)
        passes = driver.store.calls["pass_gates"]
        driver.store.gates_due_at = datetime.now(UTC) + timedelta(seconds=0.1)
        await driver.store.until("pass_gates", passes + 1)


async def test_gates_that_cannot_be_passed_yet_are_tried_again_after_a_pause() -> None:
    """A row that is locked keeps a place overdue."""
    driver = Running()
    driver.store.dates["gates"].extend([-5.0, None])
    async with running(driver):
        await driver.until("gates due", 1)
        at_once = driver.store.calls["pass_gates"]
        await driver.store.until("pass_gates", 2)

    assert at_once == 1


async def test_standby_waits_and_takes_over_when_a_leader_died() -> None:
    driver = Running()
    driver.store.lock_free = False
    async with running(driver):
        await driver.until("try_lead", 1)
        tries = driver.store.calls["try_lead"]
        await driver.settled()
        quiet = driver.store.calls["try_lead"] == tries
        driver.driver.succeed()
        await driver.store.until("try_lead", tries + 1)
        driver.store.lock_free = True
        await driver.store.until("fold_deltas", 1)

    assert quiet
    assert driver.states == ["standby", "leader"]


async def test_stale_leader_stands_back() -> None:
    """It slept; meanwhile another one got the lock and a newer epoch."""
    async with running(Running()) as driver:
        await driver.store.until("idle_driver", 1)
        await driver.notices.listening.wait()
        driver.store.epoch += 1
        driver.store.lock_free = False
        driver.notices.send()
        await driver.until("try_lead", 2)

        assert driver.states == ["leader", "standby"]


@pytest.mark.parametrize("broken", ["leads", "away"])
async def test_leader_that_lost_its_lock_or_database_leads_again(broken: str) -> None:
    driver = Running(replace(SETTINGS, heartbeat_s=0.02))
    async with running(driver):
        await driver.store.until("idle_driver", 1)
        setattr(driver.store, broken, broken == "away")
        await driver.store.until("try_lead", 2)
        setattr(driver.store, broken, broken != "away")
        folds = driver.store.calls["fold_deltas"]
        await driver.store.until("fold_deltas", folds + 1)

    assert driver.states[:2] == ["leader", "leader"]


async def test_terms_that_end_at_once_follow_after_growing_pauses() -> None:
    """On a full disk some calls fail, and not the one that begins a term."""

    async def fail(epoch: int) -> Folded:
        raise DiskFull(f"the disk of the database is full in term {epoch}")

    driver, began = Running(), time.monotonic()
    driver.store.fold_deltas = fail  # type: ignore[method-assign]
    async with running(driver):
        await driver.store.until("try_lead", 6)

    assert time.monotonic() - began > 0.5


async def test_lost_notice_costs_one_heartbeat() -> None:
    driver = Running(replace(SETTINGS, heartbeat_s=0.05))
    async with running(driver):
        await driver.until("idle_driver", 1)
        driver.store.folds.append(4)
        asked = driver.store.calls["idle_driver"]
        driver.store.idle.append(False)
        await driver.store.until("idle_driver", asked + 1)

    assert not driver.store.folds


async def test_leader_that_lost_only_its_lock_notices_with_the_break_of_its_notices() -> None:
    """The other connections may have been made again without a word."""
    async with at_rest(Running()) as driver:
        driver.store.leads = False
        driver.notices.lose()
        await driver.until("try_lead", 2)

        assert driver.states == ["leader", "leader"]


OPERATION = Operation(7, 1, 1, "delete_batch", {}, 0, 10, "0" * 32)


async def test_operation_goes_on_step_by_step_until_it_has_to_wait() -> None:
    driver = Running()
    driver.store.operations.extend([[OPERATION], [OPERATION], [OPERATION]])
    driver.store.steps.extend([True, True, False])
    async with running(driver):
        await driver.until("remove_batch", 3)

    assert not driver.store.steps
    assert not driver.store.failed


async def test_operation_that_waits_hides_no_other() -> None:
    driver = Running()
    driver.store.operations.append([OPERATION, replace(OPERATION, operation_id=8)])
    driver.store.steps.extend([False, True])
    async with running(driver):
        await driver.until("remove_batch", 2)

    assert not driver.store.steps


async def test_operation_that_cannot_succeed_ends_with_its_error() -> None:
    driver = Running()
    driver.store.operations.append([OPERATION])
    driver.store.steps.append(GroupNotFound(1, "x"))
    async with running(driver):
        await driver.store.until("fail_operation", 1)

    (problem,) = driver.store.failed
    assert (problem["operation_id"], problem["code"]) == (7, "API.GROUP_NOT_FOUND")


NAMES = {loop.name for loop in LOOPS}


def texts() -> dict[str, str]:
    return {file.name: file.text for file in files_of("functions")}


def test_loops_have_distinct_names_and_follow_loops_that_exist() -> None:
    assert len(NAMES) == len(LOOPS)
    assert FIRST in NAMES
    assert {name for loop in LOOPS for name in loop.after} <= NAMES


@pytest.mark.parametrize("function", ["_loops_with_work", "_loops_due"])
def test_sql_names_loops_that_exist(function: str) -> None:
    named = set(re.findall(r"(?:THEN|SELECT) '(\w+)'", texts()[function]))

    assert named
    assert named <= NAMES


def test_notices_to_the_driver_name_loops_that_exist() -> None:
    payloads = set(re.findall(r"pg_notify\('driver', '(\w*)'\)", "\n".join(texts().values())))

    assert payloads - {""} <= NAMES


def test_operations_that_sql_creates_have_a_step() -> None:
    """`_create_operation` gets the kind as its fourth argument."""
    made = re.findall(
        r"_create_operation\([^,]+, [^,]+, [^,]+, '(\w+)'", "\n".join(texts().values())
    )

    assert set(made) == set(STEPS)


async def test_operation_of_a_newer_weft_is_refused() -> None:
    operation = Operation(7, 1, 1, "polish", {}, 0, 10, "0" * 32)

    with pytest.raises(WeftError, match="cannot perform 'polish' operations"):
        await advance_operation(FakeDriverStore(), 1, operation)


async def test_a_loop_is_woken_by_its_name_and_by_the_loop_it_follows() -> None:
    """A loop that is only an entry: what the fold names it hears, and its neighbour after it."""
    heard: list[str] = []

    async def listen(context: LoopContext) -> None:
        await context.bell.heard()
        heard.append("listen")
        context.moved()
        await context.due.passed()

    async def answer(context: LoopContext) -> None:
        await context.bell.heard()
        heard.append("answer")
        raise LoopEnded("over")

    loops = [Loop("fold", idle), Loop("listen", listen), Loop("answer", answer, after=("listen",))]
    term = Term(FakeDriverStore(), 1, Settings(home=Path("/nowhere")), Adapters(), loops=loops)
    term.wake_each(["listen"])

    with pytest.raises(LoopEnded):
        await term.run()
    assert heard == ["listen", "answer"]


@dataclass(frozen=True)
class Horn:
    """An adapter that only this test knows."""

    blow: Callable[[], None]


async def test_an_adapter_reaches_its_loop_and_no_other_one_is_there() -> None:
    """What is between the driver's maker and a loop names no adapter."""
    heard: list[str] = []

    async def blow(context: LoopContext) -> None:
        horn = context.adapters.get(Horn)
        assert horn is not None
        horn.blow()
        assert context.adapters.get(Post) is None
        raise LoopEnded("over")

    adapters = Adapters(Horn(lambda: heard.append("toot")))
    loops = [Loop("fold", idle), Loop("blow", blow)]
    with pytest.raises(LoopEnded):
        await Term(FakeDriverStore(), 1, Settings(), adapters, loops=loops).run()
    assert heard == ["toot"]


class LoopEnded(Unavailable):
    """The test's end of a term."""


async def idle(context: LoopContext) -> None:
    await context.due.passed()
