"""Room that tenants share: half of it is for others, in whatever does a few things at a time."""

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from weft.ports.shared_room import SharedRoom

ROOT = Path(weft.__file__).parent
SHARED = {
    "extensions/lines/calls/source_items.py", "api/web_tokens/providers.py",
    "driver/loops/deliveries_in_flight.py",
    "run/isolated/asking/evaluation.py", "run/isolated/asking/sources.py",
    "worker/agent/job_inputs.py",
    "plugins/executors/container/images.py", "plugins/runners/simulation/steps.py",
}  # fmt: skip
ALONE = {
    "api/use_cases/file_stores.py": "of one request",
    "driver/loops/deliveries_in_flight.py": "of one host of one tenant",
    "plugins/runners/remote/calls.py": "of one engine, whose answers are about jobs of all",
    "plugins/log_stores/s3/fetching.py": "of the bucket of the site",
    "extensions/engines/ssh/provider/__init__.py": "of hosts of the site",
    "plugins/runners/remote/ssh.py": "of a cluster of the site",
    "extensions/engines/slurm/runner/files.py": "of a cluster of the site",
    "extensions/brokers/kafka/topics.py": "messages of one consumer, in their order",
    "run/isolated/asking/lookups.py": "of one set of questions",
    "store/api_store.py": "behind the turns of users",
    "store/offered_jobs.py": "calls of the database, which have their own limit of time",
}
"""What counts without tenants, and why."""
CALLERS = {"bench", "cli", "client", "simulator", "testing"}
"""Run for one user."""


async def begin(room: SharedRoom, held: list[str], *holders: str) -> list[asyncio.Task[None]]:
    """Let these wait for room, and keep it until they are ended."""

    async def hold(holder: str) -> None:
        async with room.of(holder):
            held.append(holder)
            try:
                await asyncio.Event().wait()
            finally:
                held.remove(holder)

    tasks = [asyncio.create_task(hold(one)) for one in holders]
    await end()
    return tasks


async def end(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    for _ in range(9):
        await asyncio.sleep(0)


@pytest.mark.parametrize("total", [2, 3, 4, 20])
async def test_modest_tenant_has_room_beside_a_greedy_one(total: int) -> None:
    room, held = SharedRoom(total), list[str]()
    greedy = await begin(room, held, *["greedy"] * 3 * total)
    modest = await begin(room, held, "modest")
    assert sorted(held) == ["greedy"] * (total // 2) + ["modest"]
    await end(*greedy[: total // 2])
    assert held.count("greedy") == total // 2
    await end(*greedy, *modest)
    assert (held, room.has("greedy")) == ([], True)


async def test_what_is_given_back_goes_to_whoever_has_least() -> None:
    room, held = SharedRoom(4), list[str]()
    first = await begin(room, held, "a", "a", "b", "b")
    waiting = await begin(room, held, "a", "a", "b", "c")
    await end(waiting[0])  # one that goes away leaves nothing behind
    await end(first[0])
    assert sorted(held) == ["a", "b", "b", "c"]
    await end(*first, *waiting)
    assert [room.has(one) for one in "abc"] == [True] * 3


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


async def test_who_is_cancelled_while_room_is_given_back_does_not_get_it() -> None:
    async def wait() -> None:
        async with room.of("b"):
            pass

    room = SharedRoom(1)
    async with room.of("a"):
        waiting = [asyncio.create_task(wait()) for _ in range(2)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)

    assert room.has("c")
