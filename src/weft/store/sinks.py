"""Sinks of production lines, in the api's store."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import calls, documents, value


class Sinks(StorePart):
    """The messages of sinks."""

    @calls(documents, sink="of_name", limit="limit_rows")
    async def list_messages(
        self, caller: Caller, sink: str, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return messages of a sink, the oldest first. Raise `SinkNotFound`."""

    @calls(value, sink="of_name", delivery_id="of_delivery_id")
    async def redeliver_message(self, caller: Caller, sink: str, delivery_id: int) -> Row:
        """Send a message again at once, unless that is under way; return it. Raise
        `SinkNotFound`, `MessageNotFound`, `MessageDelivered`.
        """

    @calls(
        value,
        sink="of_name",
        delivery_id="of_delivery_id",
        decision=lambda dropped: "dropped" if dropped else "passed",
    )
    async def decide_message(
        self, caller: Caller, sink: str, delivery_id: int, *, dropped: bool
    ) -> Row:
        """Send a message that a check has stopped, or drop it; return it. Raise `SinkNotFound`,
        `MessageNotFound`, `MessageNotHeld`.
        """

    @calls(value, sink="of_name")
    async def settle_given_up(self, caller: Caller, sink: str, decision: str | None) -> int:
        """Send messages that were given up again, or drop them; None: only count them. Return how
        many. Raise `SinkNotFound`.
        """
