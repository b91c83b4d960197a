"""How many requests of a tenant and of a user one api serves at a time, open streams included; and
how much of what they read it sends at a time.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from weakref import WeakValueDictionary

from weft.api.http.routing import Message, Send
from weft.core.access.rights import Right
from weft.core.errors import TooManyAtOnce
from weft.ports.store import Caller

LARGE_BYTES: Final = 16 << 10
"""Pieces of more take turns: each costs the event loop up to a millisecond."""


class OpenRequests:
    """Counts requests that have begun and not ended. `most`: of a tenant; one user has half."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[tuple[int, int]] = Counter()
        self._turns = WeakValueDictionary[int, asyncio.Lock]()

    @contextmanager
    def counted(self, caller: Caller, send: Send) -> Iterator[Send]:
        """Count a request while it is served, and yield what sends its reply: of all large pieces
        of a tenant, but those of its workers, one goes out in a turn. Raise `TooManyAtOnce`.
        """

        async def send_in_turn(message: Message) -> None:
            if not caller.work and len(message.get("body", b"")) > LARGE_BYTES:
                async with self._turns.setdefault(caller.tenant_id, asyncio.Lock()):
                    await asyncio.sleep(0)
            await send(message)

        user, tenant = (caller.tenant_id, caller.user_id), (caller.tenant_id, 0)
        limits = {} if caller.work else {user: self._most // 2, tenant: self._most}
        if caller.may(Right.MANAGE):  # to end what others keep open
            limits.pop(tenant, None)
        for key, most in limits.items():
            if self._open[key] >= most:
                raise TooManyAtOnce(
                    f"{'you have' if key == user else 'your tenant has'} too many open requests",
                    detail=f"One api serves {most} of them at a time, and open streams count.",
                    hint="Close streams that nobody reads, and follow all jobs by one stream.",
                )
        self._open.update(limits.keys())
        try:
            yield send_in_turn
        finally:
            for key in limits:
                self._open[key] -= 1
                if not self._open[key]:
                    del self._open[key]
