"""The loops as data: what SQL and Python say about them agrees."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from driver.fake_store import FakeDriverStore
from weft.core.errors import Unavailable, WeftError
from weft.driver.adapters import Adapters
from weft.driver.loops import LOOPS
from weft.driver.loops.deliveries import Post
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.operations import STEPS, advance_operation
from weft.driver.term import FIRST, Term
from weft.ports.store import Operation
from weft.settings import Settings
from weft.sql import files_of

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
