"""Tests of conditions while a server is silent: a tenant has half of what is under way."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from store.test_conditions import block
from store.world import World, open_world
from weft.core.ends.conditions import Ask
from weft.driver.adapters import Adapters
from weft.driver.loops import conditions as loop
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.loop import LoopContext
from weft.ports.patience import tasks_beside
from weft.run.isolated.asking.tests import ConditionTests
from weft.settings import Settings


async def ask_http(world: World, port: int, path: str, n: int) -> None:
    """Let conditions be due, each of one job, whose tests ask this server."""
    _, worker, claimed = await world.submit_and_claim(n)
    for number, one in enumerate(claimed):
        url = {"url": f"http://127.0.0.1:{port}{path}?{number}"}
        await block(worker, one, ask=Ask("quota", "http", url))
    tenant = world.caller.tenant_id
    past = "UPDATE weft.condition SET next_test_at = now() - interval '1 s' WHERE tenant_id = $1"
    await world.admin.execute(past, tenant)


async def test_tenant_whose_server_is_silent_leaves_half_of_the_tests(
    own_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "TESTS_MAX", 4)
    settings = Settings(tester_timeout_s=300, tester_private_hosts="*")
    tests, store, epoch = ConditionTests(settings), own_world.driver, await own_world.lead()
    asked, bell = asyncio.Queue[bytes](), Bell()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.put_nowait((await reader.readuntil(b"\r\n\r\n")).split()[1][:7])
        await reader.read()
        writer.close()

    async with (
        AsyncExitStack() as stack,
        asyncio.timeout(60),
        await asyncio.start_server(serve, "127.0.0.1", 0) as server,
    ):
        stack.push_async_callback(tests.close)
        port = server.sockets[0].getsockname()[1]
        await ask_http(own_world, port, "/greedy", 6)
        busy = [one.condition_id for one in await store.due_conditions(epoch, (), limit=4)]
        assert len(busy) == 2
        assert await store.conditions_due(epoch, busy[:1], limit=4) is not None
        assert await store.conditions_due(epoch, busy, limit=4) is None
        context = LoopContext(
            store, epoch, settings, bell, DueDate(), lambda: None, lambda _: None,
            adapters=Adapters(loop.ConditionTester(tests.test)),
        )  # fmt: skip
        running = asyncio.ensure_future(loop.LOOP.run(context))
        await stack.enter_async_context(tasks_beside([running]))
        held = [await asked.get() for _ in busy]
        modest = await stack.enter_async_context(open_world(own_world.backend))
        await ask_http(modest, port, "/modest", 1)
        bell.ring()
        assert [*held, await asked.get()] == [b"/greedy", b"/greedy", b"/modest"]
