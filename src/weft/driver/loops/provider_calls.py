"""How the driver calls what it does not trust: with a limit of time, and rarely after failures.
What machines leave behind at a provider, as disks, goes when it was there for a while.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from weft.core.pools import Pool
from weft.core.pools.pool import Option
from weft.ports.provider import ClearsUp, Leftover, Provider
from weft.telemetry import metrics
from weft.telemetry.log import log

Answer = TypeVar("Answer")

FIRST_S = 30.0
LONGEST_S = 900.0


async def limited(call: Coroutine[Any, Any, Answer], limit_s: float) -> Answer:
    """Return what a call returns. Raise `TimeoutError` after this time, also if the call does not
    heed that it is cancelled.
    """
    task = asyncio.ensure_future(call)
    try:
        await asyncio.wait({task}, timeout=limit_s)
        if not task.done():
            raise TimeoutError
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            task.add_done_callback(heard)


def heard(task: asyncio.Future[Any]) -> None:
    """Look at the error of a call for which nobody waits any more; else Python warns of it."""
    if not task.cancelled():
        task.exception()


class Creations:
    """When each pool was given machines: whatever rings, the next ones come one period later."""

    def __init__(self, period_s: float) -> None:
        self._period_s = period_s
        self._noted: dict[str, float] = {}

    def note(self, pool: Pool, count: int) -> None:
        """So many machines of a pool are asked for now."""
        if count:
            self._noted[pool.name] = time.monotonic()

    def left(self, pool: Pool) -> int:
        """Return how many may be asked for now."""
        return 0 if self._left_s(pool.name) > 0 else pool.creates_per_round

    def next_in_s(self) -> float:
        """Return when to look again: after a period, or when more may be made."""
        left_s = map(self._left_s, self._noted)
        return min((one for one in left_s if one > 0), default=self._period_s)

    def _left_s(self, pool: str) -> float:
        return self._noted.get(pool, -math.inf) + self._period_s - time.monotonic()


class Pauses:
    """What is left alone after it failed: 30 s, then twice as long each time, up to 15 minutes."""

    def __init__(self) -> None:
        self._pauses: dict[Hashable, tuple[float, float]] = {}
        """Until when, and how long that was."""

    def failed(self, key: Hashable) -> None:
        """Begin the next pause. Calls that were under way together fail together: one pause."""
        if self.holds(key):
            return
        _, before_s = self._pauses.get(key, (0.0, 0.0))
        for_s = min(before_s * 2 or FIRST_S, LONGEST_S)
        self._pauses[key] = (time.monotonic() + for_s, for_s)

    def worked(self, key: Hashable) -> None:
        """End the pause; the next one is short again."""
        self._pauses.pop(key, None)

    def holds(self, key: Hashable) -> bool:
        """Say whether a pause has not ended."""
        return self.left_s(key) > 0

    def left_s(self, key: Hashable) -> float:
        """Return how long it still lasts."""
        until, _ = self._pauses.get(key, (0.0, 0.0))
        return until - time.monotonic()


class Leftovers:
    """When each was first seen, in one term: the next one waits anew."""

    def __init__(
        self,
        grace_s: float,
        why: Callable[[Exception], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`why`: puts what a plug-in raised into words."""
        self._grace_s = grace_s
        self._why = why
        self._clock = clock
        self._seen: dict[str, dict[Leftover, float]] = {}

    async def look(
        self,
        name: str,
        provider: Provider,
        pools: Sequence[Mapping[str, Option]],
        limited: Callable[[Callable[[], Awaitable[None]]], Awaitable[None]],
    ) -> None:
        """Ask a provider what is left, and remove what was left before. `limited` calls it."""
        if not isinstance(provider, ClearsUp):
            return
        maker = provider
        leftovers: list[Leftover] = []

        async def ask() -> None:
            leftovers.extend(await maker.list_leftovers(pools))

        try:
            await limited(ask)
        except Exception as error:  # noqa: BLE001 (a plug-in raises what it likes)
            self._failed(name, error)
            return
        for leftover in self._due(name, leftovers):
            try:
                await limited(partial(maker.remove_leftover, leftover))
            except Exception as error:  # noqa: BLE001 (as above)
                self._seen[name][leftover] = self._clock()
                self._failed(name, error)
            else:
                del self._seen[name][leftover]
                _tell("pool.leftover_removed", name, leftover)

    def _failed(self, name: str, error: Exception) -> None:
        metrics.PROVIDER_FAILURES.labels(name).inc()
        log.warning("pool.leftover_failed", provider=name, error=self._why(error))

    def _due(self, name: str, leftovers: Collection[Leftover]) -> list[Leftover]:
        """Return what to remove; what is not found any more is forgotten."""
        now, before = self._clock(), self._seen.get(name, {})
        self._seen[name] = {leftover: before.get(leftover, now) for leftover in leftovers}
        for leftover in leftovers:
            if leftover not in before:
                _tell("pool.leftover_found", name, leftover)
        return [leftover for leftover, at in self._seen[name].items() if now - at >= self._grace_s]


def _tell(event: str, provider: str, leftover: Leftover) -> None:
    log.info(
        event,
        provider=provider,
        kind=leftover.kind,
        id=leftover.provider_id,
        name=leftover.name,
        region=leftover.region,
    )
