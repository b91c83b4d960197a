"""Resolve names with the system's resolver, each in its own thread.

The resolver may take half a minute for a name whose servers are silent, and cannot be interrupted.
In asyncio's few shared threads such names would hold up all others. The threads are daemons, so
that an abandoned one does not hold up the end of the process. There are never more of them than
attempts that run or were given up within the last half minute.
"""

import asyncio
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress

from weft.core.addresses import Address, parse_address, read_address

Answer = Sequence[Address] | OSError


async def resolve(host: str, port: int) -> Sequence[Address]:
    """Return the addresses of a host, each once, in the resolver's order. Raise `OSError`."""
    literal = parse_address(f"[{host}]" if ":" in host else host)
    if literal is not None:
        return [literal]
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Answer] = loop.create_future()

    def tell(found: Answer) -> None:
        if not answer.done():
            answer.set_result(found)

    def ask() -> None:
        found = _look_up(host, port)
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell, found)

    threading.Thread(target=ask, name="weft-resolve", daemon=True).start()
    found = await answer
    if isinstance(found, OSError):
        raise found
    return found


def _look_up(host: str, port: int) -> Answer:
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        return error
    except UnicodeError as error:
        return OSError(str(error))
    return list(dict.fromkeys(read_address(str(row[4][0])) for row in rows))
