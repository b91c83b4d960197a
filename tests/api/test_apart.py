"""Turns of tenants for the work on large bodies."""

import asyncio
import threading

import pytest

from weft.api.http.apart import SMALL_BYTES, apart

DEADLINE_S = 60


async def test_cancelled_request_keeps_the_turn_of_its_tenant_while_its_thread_works() -> None:
    began, may_end, done = threading.Event(), threading.Event(), list[str]()

    def work() -> None:
        began.set()
        may_end.wait(DEADLINE_S)
        done.append("first")

    first = asyncio.create_task(apart(SMALL_BYTES + 1, None, work))
    assert await asyncio.to_thread(began.wait, DEADLINE_S)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    second = asyncio.create_task(apart(SMALL_BYTES + 1, None, done.append, "second"))
    await asyncio.sleep(0)
    may_end.set()
    await asyncio.wait_for(second, DEADLINE_S)

    assert done == ["first", "second"]
