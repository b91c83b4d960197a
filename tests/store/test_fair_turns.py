"""The next connection that is free goes to the tenant with the fewest, then to such a user."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from weft.core.errors import TooManyAtOnce
from weft.ports.patience import end_tasks
from weft.store import turns
from weft.store.turns import Turns, User

ANN, BOB, CAT, DAN = [(1, number) for number in range(1, 5)]
ZOE, YAN = (2, 11), (2, 12)


class Calls:
    """Calls that go on until they may end, and the order in which they began."""

    def __init__(self, all_turns: Turns) -> None:
        self.begun: list[User] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._turns = all_turns
        self._ends: dict[User, list[asyncio.Event]] = {}

    async def add(self, *users: User) -> None:
        """Begin calls, and let each come as far as it can."""
        for user in users:
            self.tasks.append(asyncio.create_task(self._run(user)))
            await settled()

    async def stop(self) -> None:
        await end_tasks(self.tasks)

    async def _run(self, user: User) -> None:
        async with self._turns.of(user):
            self.begun.append(user)
            end = asyncio.Event()
            self._ends.setdefault(user, []).append(end)
            await end.wait()

    async def end(self, user: User) -> User | None:
        """End a call of this user; return whose began then."""
        n_begun = len(self.begun)
        self._ends[user].pop(0).set()
        await settled()
        assert len(self.begun) <= n_begun + 1
        return self.begun[n_begun] if len(self.begun) > n_begun else None


@asynccontextmanager
async def calls_in(all_turns: Turns) -> AsyncIterator[Calls]:
    calls = Calls(all_turns)
    yield calls
    await calls.stop()


async def settled() -> None:
    """Let all tasks come as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_many_users_of_a_tenant_leave_turns_to_others() -> None:
    async with calls_in(Turns(most=2, total=4)) as calls:
        await calls.add(ANN, BOB, CAT, DAN, ANN, BOB, CAT, DAN, ZOE, YAN, ZOE)
        first = list(calls.begun)
        after = [await calls.end(user) for user in (ANN, BOB, CAT, DAN)]

        assert first == [ANN, BOB, CAT, DAN]
        assert after == [ZOE, YAN, ANN, BOB]
        assert await calls.end(YAN) == ZOE
        for user in (ANN, BOB):
            assert await calls.end(user) in (CAT, DAN)


async def test_users_of_a_tenant_have_turns_by_turns() -> None:
    async with calls_in(Turns(most=3, total=3)) as calls:
        await calls.add(ANN, ANN, ANN, ANN, ANN, BOB, BOB, CAT)

        assert calls.begun == [ANN] * 3
        assert [await calls.end(ANN) for _ in range(3)] == [BOB, CAT, ANN]
        assert await calls.end(BOB) == BOB
        assert await calls.end(CAT) == ANN


async def test_who_waits_for_himself_holds_up_nobody() -> None:
    async with calls_in(Turns(most=1, total=3)) as calls:
        await calls.add(ANN, ANN, ANN, BOB, ZOE)

        assert calls.begun == [ANN, BOB, ZOE]
        assert await calls.end(ZOE) is None
        assert await calls.end(ANN) == ANN


async def test_call_that_gets_no_turn_of_anybody_is_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One whose own calls have all turns that they may, to send fewer; others, to try again."""
    all_turns = Turns(most=2, total=3, others_s=0.0)
    async with calls_in(all_turns) as calls:
        await calls.add(ANN, ANN, BOB)
        monkeypatch.setattr(turns, "WAIT_S", 0.0)

        for user, error in ((ANN, TooManyAtOnce), (BOB, TimeoutError), (ZOE, TimeoutError)):
            with pytest.raises(error):
                async with all_turns.of(user):
                    raise AssertionError


@pytest.mark.parametrize("seed", range(20))
async def test_no_turn_is_lost_whoever_leaves_and_whenever(seed: int) -> None:
    """Calls end or are cancelled while they wait, run, or have just been given a turn."""
    random_ = random.Random(seed)  # noqa: S311 (a test)
    all_turns = Turns(most=2, total=3)
    running, users = set(), [ANN, BOB, CAT, ZOE, YAN]

    async def run(user: User) -> None:
        async with all_turns.of(user):
            one = object()
            running.add((user, one))
            assert len(running) <= 3
            assert sum(each == user for each, _ in running) <= 2
            for _ in range(random_.randrange(5)):
                await asyncio.sleep(0)
            running.remove((user, one))

    async def cancelled(task: asyncio.Task[None]) -> None:
        for _ in range(random_.randrange(12)):
            await asyncio.sleep(0)
        task.cancel()

    for _ in range(20):
        tasks = [asyncio.create_task(run(random_.choice(users))) for _ in range(12)]
        stops = [asyncio.create_task(cancelled(random_.choice(tasks))) for _ in range(6)]
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*stops)
        running.clear()
    async with calls_in(all_turns) as calls:
        await calls.add(*users)

        assert calls.begun == [ANN, BOB, CAT]
        assert not any(task.done() for task in calls.tasks)
