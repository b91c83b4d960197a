"""The deliveries that the loop of callbacks has in hand: more than may be sent at once, so that
they are asked for and recorded in sets.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from weft.ports.shared_room import SharedRoom
from weft.ports.store import DeliveryReport, DueCallback
from weft.settings import Settings
from weft.telemetry import metrics

AHEAD: Final = 64
"""Deliveries in hand for each that may be sent at once: what is due is asked for in sets
of half as many.
"""
STALE_S: Final = 5.0
"""One that has waited here as long as this is asked for again: it may have changed, or be gone."""
_MADE: Final = 4
"""Of a host, messages that are made for each that is sent."""
_HOST: Final = re.compile(r"[^:]*://(?:[^/?#@]*@)?([^/?#]*)")


class Receiver(NamedTuple):
    """What has limits of its own: a host, for each tenant (`weft._host_of`)."""

    tenant_id: int
    host: str


class InFlight:
    """What is in hand by receiver, and how many may be sent at once."""

    def __init__(self, settings: Settings) -> None:
        self.limit_all = AHEAD * settings.callbacks_max
        self.limit_tenant = AHEAD * (settings.callbacks_max // 2)
        self.limit_host = AHEAD * settings.callbacks_per_host_max
        self._settings = settings
        self._receivers: dict[int, Receiver] = {}
        self._counts: Counter[Receiver] = Counter()
        self._low: dict[Receiver, int] = {}
        self._room = SharedRoom(settings.callbacks_max)
        self._sent: dict[Receiver, asyncio.Semaphore] = {}
        self._made: dict[Receiver, asyncio.Semaphore] = {}

    def ids(self) -> list[int]:
        """Return the deliveries in hand."""
        return [*self._receivers]

    def take(self, due: Iterable[DueCallback]) -> None:
        """Take deliveries into the hand. There may be more: `recorded` says when to ask."""
        taken = set()
        for callback in due:
            receiver = self._receivers[callback.delivery_id] = _receiver_of(callback)
            self._counts[receiver] += 1
            taken.add(receiver)
            if receiver not in self._sent:
                most = self._settings.callbacks_per_host_max
                self._sent[receiver] = asyncio.Semaphore(most)
                self._made[receiver] = asyncio.Semaphore(_MADE * most)
        for receiver in taken:
            self._low[receiver] = self._counts[receiver] // 2

    def drop(self, delivery_id: int) -> bool:
        """Let go of a delivery; return whether it is time to ask for more."""
        receiver = self._receivers.pop(delivery_id)
        self._counts[receiver] -= 1
        is_low = self._counts[receiver] <= self._low.get(receiver, -1)
        if is_low:
            del self._low[receiver]
        if not self._counts[receiver]:
            del self._counts[receiver], self._sent[receiver], self._made[receiver]
        return is_low

    def recorded(self, ended: Iterable[tuple[DueCallback, DeliveryReport]]) -> bool:
        """Let go of what is recorded; return whether something else may be due."""
        moved = False
        for callback, report in ended:
            has_turn = callback.subscription is not None or (
                callback.sink is not None and callback.sink.get("order") is not None
            )
            moved |= self.drop(callback.delivery_id) or has_turn or report.retry_in_s is not None
        return moved

    def making(self, callback: DueCallback) -> asyncio.Semaphore:
        """Return what bounds the messages that are made and not sent."""
        return self._made[self._receivers[callback.delivery_id]]

    @asynccontextmanager
    async def sending(self, callback: DueCallback) -> AsyncIterator[None]:
        """Wait until this one may be sent."""
        sent = self._sent[self._receivers[callback.delivery_id]]
        async with sent, self._room.of(callback.tenant_id):
            metrics.CALLBACKS_SENDING.inc()
            try:
                yield
            finally:
                metrics.CALLBACKS_SENDING.dec()


def _receiver_of(callback: DueCallback) -> Receiver:
    match = _HOST.match(callback.url)
    return Receiver(callback.tenant_id, callback.url if match is None else match[1].lower())
