"""A transport that is a list, for tests of those who take what comes by one."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from weft.ports.transport import Route, TransportError


class Delivery:
    """A message that has come."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.refused = ""
        """Why."""
        self.over = asyncio.Event()

    async def acknowledge(self) -> None:
        """Note it."""
        self.over.set()

    async def refuse(self, why: str) -> None:
        """Note why."""
        self.refused = why
        self.over.set()


class OneTransport:
    """It is away at first, then brings what it is given: all, or each when that before is over."""

    def __init__(
        self, deliveries: Sequence[Delivery], route: Route, *, one_by_one: bool = False
    ) -> None:
        self.deliveries = deliveries
        self.n_tries = 0
        self._route = route
        self._one_by_one = one_by_one

    @asynccontextmanager
    async def consume(self, route: Route, *, limit: int) -> AsyncIterator[Any]:
        """Bring them."""
        assert (route, limit > 0) == (self._route, True)
        self.n_tries += 1
        if self.n_tries == 1:
            raise TransportError("away")

        async def come() -> AsyncIterator[Delivery]:
            for one in self.deliveries:
                yield one
                if self._one_by_one:
                    await one.over.wait()
            await asyncio.Event().wait()

        yield come()
