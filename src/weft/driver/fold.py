"""The loop that folds deltas into sums and settles completions."""

import asyncio
import time
from collections.abc import Callable

from weft.core.fold_period import next_fold_period_s
from weft.driver.bell import Bell
from weft.ports.store import DriverStore, Folded
from weft.telemetry import metrics

FIRST_S = 0.02
"""What wakes the fold also starts a job, as a rule: that goes first."""


class FoldLoop:
    """Folds soon when woken, then with a pause while there is something, then sleeps.

    While it is awake nobody sends notices, so each of its passes says which other loops have work.
    """

    def __init__(
        self, store: DriverStore, epoch: int, bell: Bell, *, after_pass: Callable[[Folded], None]
    ) -> None:
        self._store = store
        self._epoch = epoch
        self._bell = bell
        self._after_pass = after_pass
        self.is_asleep = False

    async def run(self) -> None:
        """Fold until cancelled."""
        pause_s = 0.0
        while True:
            begun = time.monotonic()
            folded = await self._store.fold_deltas(self._epoch)
            metrics.DELTAS_FOLDED.inc(folded.deltas)
            self._after_pass(folded)
            if folded.deltas == 0 and await self._store.idle_driver(self._epoch):
                await self._sleep()
                pause_s = 0.0
                continue
            took_s = time.monotonic() - begun
            pause_s = next_fold_period_s(pause_s, deltas=folded.deltas, took_s=took_s)
            await asyncio.sleep(pause_s)

    async def _sleep(self) -> None:
        self.is_asleep = True
        try:
            await self._bell.heard()
            await asyncio.sleep(FIRST_S)
        finally:
            self.is_asleep = False
