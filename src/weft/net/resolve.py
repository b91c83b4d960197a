"""Resolve names with the system's resolver, each in its own thread.

The resolver may take half a minute for a name whose servers are silent, and cannot be interrupted.
In asyncio's few shared threads such names would hold up all others. There are never more of them
than attempts that run or were given up within the last half minute.
"""

import socket
from collections.abc import Sequence

from weft.core.addresses import Address, parse_address, read_address
from weft.net.threads import in_thread_of_its_own


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
