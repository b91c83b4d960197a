"""The calls of the api about transports."""

from collections.abc import Sequence
from typing import Protocol

from weft.ports.store.callers import Caller, Row


class TransportStore(Protocol):
    """What is known of the connections over which queues travel."""

    async def list_transports(self, caller: Caller, names: Sequence[str]) -> Sequence[Row]:
        """Return these connections by name: `transport`, `looked_at`, `away_since`, `error` (None
        each: the driver has not looked, or it answers), and `queues` of the caller's tenant.
        """
