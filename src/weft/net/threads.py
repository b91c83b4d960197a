"""Work of which nobody knows how long it takes, each in its own thread, such as resolving a name.

The resolver may take half a minute for a name whose servers are silent, and cannot be interrupted.
In asyncio's few shared threads such names would hold up all others. There are never more of them
than attempts that run or were given up within the last half minute.
"""

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

from weft.core.addresses import Address, parse_address, read_address

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


async def resolve(host: str, port: int) -> Sequence[Address]:
    """Return the addresses of a host, each once, in the resolver's order. Raise `OSError`."""
    literal = parse_address(f"[{host}]" if ":" in host else host)
    if literal is not None:
        return [literal]
    return await in_thread_of_its_own(lambda: _look_up(host, port))


def _look_up(host: str, port: int) -> Sequence[Address]:
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(str(error)) from error
    return list(dict.fromkeys(read_address(str(row[4][0])) for row in rows))
