"""Work of which nobody knows how long it takes."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


async def in_thread_of_its_own(call: Callable[[], Result]) -> Result:
    """Call it where it keeps nobody from anything: neither other work of threads, nor the end."""
    done: Future[Result] = Future()
    done.set_running_or_notify_cancel()

    def work() -> None:
        try:
            done.set_result(call())
        except BaseException as error:  # noqa: BLE001 (handed over)
            done.set_exception(error)

    threading.Thread(target=work, name="weft-alone", daemon=True).start()
    return await asyncio.wrap_future(done)
