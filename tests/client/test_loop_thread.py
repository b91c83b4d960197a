"""The loop in a thread, at its end."""

import asyncio
import threading
from concurrent.futures import CancelledError
from contextlib import suppress

import pytest

from weft.client.loop_thread import ClientClosed, LoopThread


async def forever() -> None:
    await asyncio.Event().wait()


def test_nobody_waits_for_a_loop_that_is_closed_meanwhile() -> None:
    """Whatever moment the close meets: before the loop runs the call, while it ends, or after."""
    for _ in range(300):
        loop_thread = LoopThread()
        closer = threading.Thread(target=loop_thread.close)
        closer.start()
        with suppress(CancelledError, ClientClosed):
            loop_thread.wait(forever())
        closer.join()


def test_a_closed_runner_says_so_to_who_waits_and_leaves_the_rest_undone() -> None:
    loop_thread = LoopThread()
    loop_thread.close()

    with pytest.raises(ClientClosed):
        loop_thread.wait(forever())
    loop_thread.thread = threading.current_thread()  # it lives on for a moment
    loop_thread.post(pytest.fail)
    loop_thread.start(forever())
