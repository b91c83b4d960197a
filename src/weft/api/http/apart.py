"""Work on large bodies, in threads: the event loop serves others meanwhile."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from weft.ports.store import Caller

SMALL_BYTES: Final = 128 << 10
"""A body of no more is worked on at once: it takes a few hundredths of a second at most."""
_THREADS: Final = ThreadPoolExecutor(2, thread_name_prefix="weft-bodies")
_turns: Final = WeakValueDictionary[tuple[int, int], asyncio.Lock]()
"""One body of a tenant is worked on at a time, so that it holds up its own."""
Given = ParamSpec("Given")
Found = TypeVar("Found")


async def apart(
    n_bytes: int,
    caller: Caller | None,
    function: Callable[Given, Found],
    *args: Given.args,
    **kwargs: Given.kwargs,
) -> Found:
    """Return what the function returns of a body of this size. `caller` None: a stranger."""
    if n_bytes <= SMALL_BYTES:
        return function(*args, **kwargs)
    loop = asyncio.get_running_loop()
    of = (id(loop), 0 if caller is None else caller.tenant_id)
    turn = _turns.setdefault(of, asyncio.Lock())
    await turn.acquire()
    working = loop.run_in_executor(_THREADS, partial(function, *args, **kwargs))
    # Whoever is cancelled goes, but the thread goes on, and with it the turn of its tenant.
    working.add_done_callback(lambda _: turn.release())
    return await asyncio.shield(working)
