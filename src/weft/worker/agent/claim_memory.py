"""What the agent remembers about its claims, whichever store answers them."""

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from weft.core.scheduling.lease import Budget
from weft.ports.store import Claimed, ClaimRequest

HINTS_MAX: Final = 64


class ClaimMemory:
    """Number the claims; remember which were answered and the positions they reached."""

    def __init__(self) -> None:
        self._calls = itertools.count(time.time_ns())
        """No earlier process has used these numbers."""
        self._under_way = 0
        self._heard: set[int] = set()
        self._last_jobs: dict[int, int] = {}

    @contextmanager
    def asking(self, budget: Budget) -> Iterator[ClaimRequest]:
        """Make a claim within this block: heartbeats say meanwhile that one is under way."""
        self._under_way += 1
        try:
            yield ClaimRequest(
                budget_cpu_m=budget.cpu_m,
                budget_memory_mib=budget.memory_mib,
                limit_jobs=budget.jobs,
                call=next(self._calls),
                hints=self._last_jobs,
            )
        finally:
            self._under_way -= 1

    def note(self, request: ClaimRequest, claimed: Sequence[Claimed]) -> None:
        """Note the reply. The caller must hold the claimed jobs before another task runs, so that
        the next heartbeat lists them.
        """
        if claimed:
            self._heard.add(request.call)
        for one in claimed:
            if one.runnable_id:
                self._last_jobs.pop(one.runnable_id, None)
                self._last_jobs[one.runnable_id] = one.job_id
        while len(self._last_jobs) > HINTS_MAX:
            del self._last_jobs[next(iter(self._last_jobs))]

    @property
    def is_claiming(self) -> bool:
        """Say whether a claim is under way."""
        return self._under_way > 0

    def heard(self) -> Sequence[int]:
        """Return the claims whose replies no heartbeat has confirmed yet."""
        return list(self._heard)

    def confirm(self, heard: Sequence[int]) -> None:
        """Forget claims that a heartbeat has confirmed."""
        self._heard.difference_update(heard)
