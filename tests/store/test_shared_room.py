"""Room that tenants share: half of it is for others, in whatever does a few things at a time."""

import ast
import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

import weft
from weft.ports.shared_room import SharedRoom

ROOT = Path(weft.__file__).parent
SHARED = {
    "api/use_cases/source_items.py", "api/web_tokens/providers.py", "driver/loops/in_hand.py",
    "run/asked/source_reads.py", "worker/agent/job_inputs.py",
}  # fmt: skip
ALONE = {
    "api/use_cases/file_trial.py": "of one request",
    "driver/loops/in_hand.py": "of one host of one tenant",
    "plugins/executors/container/images.py": "of registries, whose images all tenants use",
    "plugins/log_stores/s3/fetching.py": "of the bucket of the site",
    "plugins/providers/ssh/__init__.py": "of hosts of the site",
    "plugins/runners/remote/ssh.py": "of a cluster of the site",
    "plugins/runners/simulation/steps.py": "sums of numbers, which end",
    "plugins/runners/slurm/files.py": "of a cluster of the site",
    "plugins/transports/kafka/topics.py": "messages of one consumer, in their order",
    "run/asked/look_ups.py": "of one set of questions",
    "store/api_store.py": "behind the turns of users",
    "store/offered_jobs.py": "calls of the database, which have their own limit of time",
    "worker/agent/job_inputs.py": "of files of the site and of weft",
}
"""What counts without tenants, and why."""
CALLERS = {"bench", "cli", "client", "simulator", "testing"}
"""Run for one user."""


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Holders:
    """Those who have room, until they may end."""

    def __init__(self, room: SharedRoom) -> None:
        self.held: list[str] = []
        self.tasks: dict[asyncio.Task[None], str] = {}
        self._room = room

    async def add(self, holder: str) -> asyncio.Task[None]:
        task = asyncio.create_task(self._hold(holder))
        self.tasks[task] = holder
        await settled()
        return task

    async def _hold(self, holder: str) -> None:
        async with self._room.of(holder):
            self.held.append(holder)
            try:
                await asyncio.Event().wait()
            finally:
                self.held.remove(holder)

    async def end(self, *tasks: asyncio.Task[None]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await settled()


@pytest.mark.parametrize("total", [2, 3, 4, 20])
async def test_modest_tenant_has_room_beside_a_greedy_one(total: int) -> None:
    holders = Holders(SharedRoom(total))
    greedy = [await holders.add("greedy") for _ in range(3 * total)]
    assert holders.held == ["greedy"] * (total // 2)
    _ = await holders.add("modest")
    assert holders.held.count("modest") == 1
    await holders.end(*greedy[: total // 2])
    assert holders.held.count("greedy") == total // 2
    await holders.end(*holders.tasks)
    assert holders.held == []


async def test_what_is_given_back_goes_to_whoever_has_least() -> None:
    room = SharedRoom(4)
    holders = Holders(room)
    first = [await holders.add(one) for one in ("a", "a", "b", "b")]
    waiting = [await holders.add(one) for one in ("a", "b", "c")]
    await holders.end(waiting[0])  # one that goes away leaves nothing behind
    assert not room.has("c")
    await holders.end(first[0])
    assert sorted(holders.held) == ["a", "b", "b", "c"]
    await holders.end(*holders.tasks)
    assert [room.has(one) for one in "abc"] == [True] * 3


async def test_smallest_room_is_for_all_in_turn() -> None:
    holders = Holders(SharedRoom(1))
    first, *_ = [await holders.add(one) for one in ("greedy", "greedy", "modest")]
    await holders.end(first)
    await holders.end(*[task for task, one in holders.tasks.items() if one == "greedy"])
    assert holders.held == ["modest"]
    await holders.end(*holders.tasks)


async def test_room_is_asked_for_without_waiting() -> None:
    room = SharedRoom(4)
    async with AsyncExitStack() as stack:
        for _ in range(2):
            stack.enter_context(room.taken("greedy"))
        assert not room.has("greedy")
        assert room.has("modest")
    assert room.has("greedy")


def made_in(name: str) -> Iterator[str]:
    """Yield the files of roles that make something of this name."""
    for path in ROOT.rglob("*.py"):
        file = path.relative_to(ROOT)
        if file.parts[0] in CALLERS or f"{name}(" not in (text := path.read_text()):
            continue
        calls = (node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        if any(name in {getattr(one, "id", ""), getattr(one, "attr", "")} for one in calls):
            yield str(file)


def test_each_pool_has_turns_of_tenants_or_a_reason() -> None:
    assert {*made_in("SharedRoom")} == SHARED
    assert {*made_in("Semaphore"), *made_in("BoundedSemaphore")} == {*ALONE}
