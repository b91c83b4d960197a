"""The calls of the api about transports."""

from collections.abc import Sequence
from typing import Protocol

from weft.ports.store.callers import Caller, Row


class TransportStore(Protocol):
    """What is known of the connections over which queues travel."""

    async def list_transports(self, caller: Caller, names: Sequence[str]) -> Sequence[Row]:
        """Return these connections by name: `transport`, `looked_at`, `away_since`, `error` (None
        each: the driver has not looked, or it answers), and of the caller's tenant the number of
        `dead_messages`, and `queues`.
        """

    async def list_dead_messages(
        self, caller: Caller, *, before: int | None, acknowledged: bool, limit: int
    ) -> Sequence[Row]:
        """Return messages that nobody wants and that a person has acknowledged, or the others, the
        newest first, from before a number on.
        """

    async def get_dead_message(self, caller: Caller, dead_id: int) -> Row | None:
        """Return one with its `body` in base64; None: there is none."""

    async def remove_dead_message(self, caller: Caller, dead_id: int) -> bool:
        """Forget one; return whether there was one."""

    async def acknowledge_dead_message(
        self, caller: Caller, dead_id: int, note: str
    ) -> Row | None:
        """Note that somebody has seen to one, the first time; return it. None: there is none."""

    async def resend_dead_message(self, caller: Caller, dead_id: int) -> Row | None:
        """Let one be sent again, unless not `can_resend`; return it. None: there is none."""
