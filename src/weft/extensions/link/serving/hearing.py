"""What workers outside say of themselves with their heartbeats."""

import time
from collections.abc import Mapping
from typing import Final

import msgspec

from weft.core.bounded import read_msgpack
from weft.ports.worker_link import LinkFacts
from weft.telemetry import metrics

_REMEMBERED_MAX: Final = 10_000


class Hearing:
    """What was heard last, for the metrics and for those who look at this api."""

    def __init__(self, lost_after_s: float) -> None:
        self._lost_after_s = lost_after_s
        self._heard: dict[int, tuple[float, tuple[str, str], LinkFacts]] = {}
        """When an incarnation said what, and its pool and name; the one that was silent longest
        first.
        """

    def note(
        self, incarnation_id: int, worker: tuple[str, str], facts: msgspec.Raw, *, is_alive: bool
    ) -> None:
        """Note what a worker says: whatever it likes. What cannot be is passed over."""
        self._heard.pop(incarnation_id, None)
        try:
            found = read_msgpack(facts, LinkFacts | None) if is_alive else None
        except msgspec.DecodeError:
            return
        if found is not None:
            self._heard[incarnation_id] = time.monotonic(), worker, found
            while len(self._heard) > _REMEMBERED_MAX:
                del self._heard[next(iter(self._heard))]

    def told(self) -> Mapping[tuple[str, str], LinkFacts]:
        """Return what workers have said last, by pool and name; of those that said nothing for
        long, or not to this api, there is nothing.
        """
        since = time.monotonic() - self._lost_after_s
        return {name: facts for at, name, facts in self._heard.values() if at > since}

    def show(self) -> None:
        metrics.set_linked_workers({
            worker: (facts.delay_ms / 1000, facts.unshipped_bytes, facts.input_cache_bytes)
            for worker, facts in self.told().items()
        })  # fmt: skip
