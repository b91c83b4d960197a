"""What machines leave behind at a provider, as disks: it goes when it was there for a while."""

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial

from weft.core.pools.pool import Option
from weft.ports.provider import ClearsUp, Leftover, Provider
from weft.telemetry import metrics
from weft.telemetry.log import log


class Leftovers:
    """When each was first seen, in one term: the next one waits anew."""

    def __init__(
        self, grace_s: float, why: Callable[[Exception], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`why`: puts what a plug-in raised into words."""
        self._grace_s = grace_s
        self._why = why
        self._clock = clock
        self._seen: dict[str, dict[Leftover, float]] = {}

    async def look(
        self, name: str, provider: Provider, pools: Sequence[Mapping[str, Option]],
        limited: Callable[[Callable[[], Awaitable[None]]], Awaitable[None]],
    ) -> None:  # fmt: skip
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
        event, provider=provider, kind=leftover.kind, id=leftover.provider_id, name=leftover.name,
        region=leftover.region,
    )  # fmt: skip
