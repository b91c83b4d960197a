"""What is told of an event loop that stood."""

import asyncio
import time

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
