"""What is told of an event loop that stood."""

import asyncio
import time

import pytest

from weft.telemetry.loop_watch import watch_loop


def hold_up(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


async def test_a_loop_that_stands_is_told_with_what_held_it_up() -> None:
    told: asyncio.Queue[tuple[float, str]] = asyncio.Queue()
    watching = asyncio.create_task(watch_loop(0.2, lambda *one: told.put_nowait(one)))
    await asyncio.sleep(0)
    hold_up(1.0)
    stood_s, frames = await asyncio.wait_for(told.get(), 60)
    watching.cancel()
    assert stood_s >= 0.5
    assert frames.startswith("hold_up (test_loop_watch.py:")


async def test_nobody_watches_until_something_is_asked_again() -> None:
    told: asyncio.Queue[tuple[float, str]] = asyncio.Queue()
    asked = asyncio.Event()
    watch = watch_loop(0.2, lambda *one: told.put_nowait(one), asked=asked, rests_after_s=0)
    watching = asyncio.create_task(watch)
    await asyncio.sleep(0)
    hold_up(1.0)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(told.get(), 0.5)

    asked.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    hold_up(1.0)
    stood_s, frames = await asyncio.wait_for(told.get(), 60)
    watching.cancel()
    assert stood_s >= 0.5
    assert frames.startswith("hold_up (test_loop_watch.py:")
