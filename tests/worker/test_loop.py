"""The loop of the spawner."""

import os
import time

from weft.worker.spawner.loop import NS, EventLoop


def test_time_limits_may_be_longer_than_the_kernel_waits() -> None:
    """A job of six weeks must not end its spawner."""
    loop, told = EventLoop(), list[str]()
    reading, writing = os.pipe()
    loop.watch(reading, lambda: told.append(os.read(reading, 1).decode()))
    loop.at(time.monotonic_ns() + 42 * 86_400 * NS, lambda: told.append("late"))
    os.write(writing, b"x")
    loop.turn(None)
    os.close(reading)
    os.close(writing)

    assert told == ["x"]
