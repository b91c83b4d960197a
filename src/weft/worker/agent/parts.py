"""Payloads and folders, fetched part by part."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import IO

from weft.core.errors import WeftError
from weft.ports.patience import until_answered
from weft.wire.payload import parts_of

ReadPart = Callable[[int, bytes, int], Awaitable[tuple[int, bytes] | None]]
"""Returns a part of what has this digest among what jobs of a batch need, counted from 1, and the
length of the whole; None: there is none.
"""


async def write_parts(
    file: IO[bytes], read: ReadPart, batch_id: int, digest: str, *, what: str
) -> None:
    """Write all parts to a file. Raise `OSError`, `WeftError` if it is not whole. `what`: "its
    arguments are".
    """
    content, part, n_parts = hashlib.sha256(), 0, 1
    while part < n_parts:
        part += 1
        row = await until_answered(partial(read, batch_id, bytes.fromhex(digest), part))
        if row is None:
            raise WeftError(f"{what} missing")
        n_parts = parts_of(row[0])
        await asyncio.to_thread(file.write, row[1])
        content.update(row[1])
    if content.hexdigest() != digest:
        raise WeftError(f"{what} not as announced")
