"""Room that tenants share: half of it is for others, in whatever does a few things at a time."""

import ast
import asyncio
import re
from collections.abc import Callable

import pytest

from tidy.source_files import product_files
from weft.ports.shared_room import SharedRoom

SHARED = {
    "weft_lines/calls/source_items.py",
    "api/web_tokens/providers.py",
    "api/use_cases/schedules.py",
    "driver/loops/deliveries_in_flight.py",
    "run/isolated/asking/evaluation.py",
    "run/isolated/asking/sources.py",
    "worker/agent/environments.py",
    "worker/agent/job_inputs.py",
    "worker/agent/note_files.py",
    "plugins/executors/container/images.py",
    "plugins/runners/simulation/steps.py",
}
ALONE = {
    "the database gives each tenant half": {
        "driver/loops/conditions.py",
        "weft_lines/loops/sources.py",
    },
    "these wait for room in another file": {
        "api/use_cases/due_work.py",
        "driver/loops/deliveries.py",
        "worker/agent/hand_over.py",
        "plugins/runners/spawner/__init__.py",
        "weft_link/worker/calls.py",
    },
    "of one request, text or job": {
        "api/http/routing.py",
        "api/use_cases/file_stores.py",
        "core/deliveries/mail.py",
        "core/graph/dax.py",
        "core/queues/guard.py",
        "weft_exec/relay.py",
    },
    "it counts those of a tenant itself": {"worker/spawner/execs.py"},
    "of one host of one tenant": {"driver/loops/deliveries_in_flight.py"},
    "one body of a tenant at a time": {"api/http/apart.py"},
    "of one tenant": {
        "api/use_cases/intake.py",
        "driver/loops/following.py",
        "run/isolated/asking/lookups.py",
        "weft_brokers/rabbitmq/events.py",
        "plugins/runners/simulation/exchange.py",
    },
    "of one engine, whose answers are about jobs of all": {
        "plugins/runners/remote/__init__.py",
        "plugins/runners/remote/calls.py",
    },
    "of the site: its bucket, hosts, clusters, brokers and providers": {
        "plugins/log_stores/s3/fetching.py",
        "weft_ssh/provider/__init__.py",
        "plugins/runners/remote/ssh.py",
        "weft_slurm/runner/files.py",
        "weft_openstack/provider/__init__.py",
        "driver/loops/release.py",
        "driver/loops/autoscale.py",
    },
    "messages of one consumer, in their order": {
        "weft_brokers/kafka/topics.py",
        "worker/agent/consuming.py",
    },
    "behind the turns of users": {"store/api_store.py"},
    "calls of the database, which have their own limit of time": {
        "api/open_streams.py",
        "store/offered_jobs.py",
        "weft_link/serving/looking.py",
        "weft_link/serving/shared_transactions.py",
    },
    "what a role does as long as it lives": {
        "driver/lead.py",
        "run/supervisor.py",
        "weft_link/served.py",
    },
    "what those who call it run beside each other": {"ports/patience.py"},
    "one removal after another, of files on this disk": {"worker/stager/directories.py"},
    "what is remembered or read ahead": {
        "api/http/failed_logins.py",
        "api/use_cases/find_lines.py",
        "weft_link/serving/__init__.py",
        "worker/spawner/agent_link.py",
        "worker/spawner/launch.py",
        "worker/spawner/scratch.py",
        "store/database.py",
        "submission/services.py",
    },
}
"""What does a few or many things at a time without turns of tenants, and why."""
CALLERS = {"bench", "cli", "client", "weft_simulator", "weft_each", "weft_top"}
"""Run for one user."""
POOLS = {"Semaphore", "BoundedSemaphore", "ThreadPoolExecutor", "ProcessPoolExecutor", "DueWork"}
BOUND = re.compile(r"_?[a-zA-Z_]*(_MAX|AT_ONCE|_max|at_once)")


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


def name_of(node: ast.AST) -> str:
    """Return by what name something is called, or read."""
    node = node.func if isinstance(node, ast.Call) else node
    return str(getattr(node, "attr", getattr(node, "id", "")))


def begins(node: ast.AST) -> bool:
    return any(name_of(one) in {"create_task", "ensure_future"} for one in ast.walk(node))


def keeps_tasks(function: ast.AST) -> bool:
    """Say whether it puts tasks that it begins with others."""
    nodes = [*ast.walk(function)]
    sets = [one for one in nodes if isinstance(one, ast.Assign)]
    begun = {name_of(one.targets[0]) for one in sets if begins(one.value)} - {""}
    kept: list[ast.AST] = [one for one in sets if isinstance(one.targets[0], ast.Subscript)]
    kept += [
        one for one in nodes if isinstance(one, ast.Call) and name_of(one) in {"add", "append"}
    ]
    return any(begins(one) or begun & {*map(name_of, ast.walk(one))} for one in kept)


def counts(node: ast.AST) -> bool:
    """Say whether it compares how many there are of its own with a bound."""
    if not isinstance(node, ast.Compare | ast.BinOp) or (
        isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Gt)  # it forgets the first
    ):
        return False
    sides = [node.left, *(node.comparators if isinstance(node, ast.Compare) else [node.right])]
    own = (one.args[0] for one in sides if isinstance(one, ast.Call) and name_of(one) == "len")
    return any(name_of(one).startswith("_") for one in own) and any(
        BOUND.fullmatch(name_of(one)) for one in sides
    )


def found_by(finds: Callable[[ast.AST], bool]) -> set[str]:
    """Return the files of roles with something of this kind."""
    return {
        file
        for file, path in product_files().items()
        if file.partition("/")[0] not in CALLERS
        and any(map(finds, ast.walk(ast.parse(path.read_text()))))
    }


def test_each_pool_has_turns_of_tenants_or_a_reason() -> None:
    """Semaphores, pools, numbers of things under way, and tasks that are kept together."""

    def has_none(node: ast.AST) -> bool:
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        is_pool = isinstance(node, ast.Call) and name_of(node) in POOLS
        return is_pool or counts(node) or (is_function and keeps_tasks(node))

    shared = found_by(lambda node: isinstance(node, ast.Call) and name_of(node) == "SharedRoom")
    assert shared == SHARED
    assert found_by(has_none) - shared == {one for some in ALONE.values() for one in some} - shared


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
