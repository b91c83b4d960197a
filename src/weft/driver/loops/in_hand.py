"""The deliveries that the loop of callbacks has in hand: more than may be sent at once, so that
they are asked for and recorded in sets.
"""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from weft.ports.store import DeliveryReport, DueCallback
from weft.settings import Settings
from weft.telemetry import metrics

AHEAD: Final = 16
"""Deliveries in hand for each that may be sent at once."""
STALE_S: Final = 5.0
"""One that has waited here for so long is asked for again: it may have changed, or be gone."""
_MADE: Final = 4
"""Of a host, messages that are made for each that is sent."""
_HOST: Final = re.compile(r"[^:]*://(?:[^/?#@]*@)?([^/?#]*)")


class Place(NamedTuple):
    """What has limits of its own: a host, for each tenant (`weft._host_of`)."""

    tenant_id: int
    host: str


class InHand:
    """What is in hand by place, and how many may be sent at once."""

    def __init__(self, settings: Settings) -> None:
        self.limit_all = AHEAD * settings.callbacks_max
        self.limit_tenant = AHEAD * (settings.callbacks_max // 2)
        self.limit_host = AHEAD * settings.callbacks_per_host_max
        self._settings = settings
        self._places: dict[int, Place] = {}
        self._counts: Counter[Place] = Counter()
        self._low: dict[Place, int] = {}
        self._all = asyncio.Semaphore(settings.callbacks_max)
        self._tenants: dict[int, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(settings.callbacks_max // 2)
        )
        self._sent: dict[Place, asyncio.Semaphore] = {}
        self._made: dict[Place, asyncio.Semaphore] = {}

    def ids(self) -> list[int]:
        """Return the deliveries in hand."""
        return [*self._places]

    def take(self, due: Iterable[DueCallback]) -> None:
        """Take deliveries into the hand. There may be more: `recorded` says when to ask."""
        taken = set()
        for one in due:
            place = self._places[one.delivery_id] = _place_of(one)
            self._counts[place] += 1
            taken.add(place)
            if place not in self._sent:
                most = self._settings.callbacks_per_host_max
                self._sent[place] = asyncio.Semaphore(most)
                self._made[place] = asyncio.Semaphore(_MADE * most)
        for place in taken:
            self._low[place] = self._counts[place] // 2

    def drop(self, delivery_id: int) -> bool:
        """Let go of a delivery; return whether it is time to ask for more."""
        place = self._places.pop(delivery_id)
        self._counts[place] -= 1
        is_low = self._counts[place] <= self._low.get(place, -1)
        if is_low:
            del self._low[place]
        if not self._counts[place]:
            del self._counts[place], self._sent[place], self._made[place]
        return is_low

    def recorded(self, ended: Iterable[tuple[DueCallback, DeliveryReport]]) -> bool:
        """Let go of what is recorded; return whether something else may be due."""
        moved = False
        for one, report in ended:
            has_turn = one.subscription is not None or (
                one.sink is not None and one.sink.get("order") is not None
            )
            moved |= self.drop(one.delivery_id) or has_turn or report.retry_in_s is not None
        return moved

    def making(self, one: DueCallback) -> asyncio.Semaphore:
        """Return what bounds the messages that are made and not sent."""
        return self._made[self._places[one.delivery_id]]

    @asynccontextmanager
    async def sending(self, one: DueCallback) -> AsyncIterator[None]:
        """Wait until this one may be sent."""
        sent = self._sent[self._places[one.delivery_id]]
        async with sent, self._tenants[one.tenant_id], self._all:
            metrics.CALLBACKS_SENDING.inc()
            try:
                yield
            finally:
                metrics.CALLBACKS_SENDING.dec()


def _place_of(one: DueCallback) -> Place:
    found = _HOST.match(one.url)
    return Place(one.tenant_id, one.url if found is None else found[1].lower())
