"""Nodes of an engine on which attempts fail at once while they succeed on others.

What the driver does with workers (`core/scheduling/black_holes.py`), a gateway does with the
nodes behind it: one bad node must not take its cluster away. A node is avoided for a time, then
tried again.
"""

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Final

from weft.core.scheduling import black_holes
from weft.core.states import Reason
from weft.ports.runner import Ended, Happened
from weft.telemetry.log import log

_ENDS_MAX: Final = 1000
_SAYS_NOTHING: Final = frozenset(
    {Reason.CANCELLED, Reason.PREEMPTED, Reason.LOST, Reason.DEADLINE, Reason.BLOCKED}
)


def told_avoided(nodes: Collection[str]) -> str:
    """Return what to add to why an attempt waits; empty: no node is avoided."""
    names = ", ".join(sorted(nodes))
    return f"; avoided, as attempts fail there at once: {names}" if names else ""


class BlackNodes:
    """How the newest attempts ended on each node of one gateway."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: deque[black_holes.Ends] = deque(maxlen=_ENDS_MAX)
        """The newest first."""
        self._numbers: dict[str, int] = {}
        self._tries: dict[str, int] = {}
        """How often each node was avoided since its last success."""
        self._until: dict[str, float] = {}
        self._why: dict[str, str] = {}
        self._is_new = False

    def ended(self, node: str, ended: Ended) -> None:
        """Note how an attempt ended on a node."""
        if not node or not ended.started_ns or ended.reason in _SAYS_NOTHING:
            return
        number = self._numbers.setdefault(node, len(self._numbers))
        is_good = ended.reason is None
        is_fast = not is_good and ended.ended_ns - ended.started_ns <= black_holes.FAST_S * 1e9
        self._ends.appendleft(
            black_holes.Ends(
                worker_id=number,
                pool_id=0,
                batch_id=ended.key.batch_id,
                at=datetime.fromtimestamp(self._clock(), UTC),
                successes=is_good,
                fast_failures=is_fast,
                slow_failures=not is_good and not is_fast,
            )
        )
        if is_good:
            self._tries.pop(node, None)
        if is_fast:
            self._find()

    def avoided(self) -> Mapping[str, float]:
        """Return the nodes to avoid now, and for how many seconds more."""
        now = self._clock()
        self._until = {node: until for node, until in self._until.items() if until > now}
        return {node: until - now for node, until in self._until.items()}

    def news(self) -> Happened | None:
        """Return what to tell of the nodes; None: nothing since the last call."""
        if not self._is_new:
            return None
        self._is_new = False
        return Happened(
            avoided=[
                black_holes.AvoidedNode(node, seconds, self._why[node])
                for node, seconds in self.avoided().items()
            ]
        )

    def _find(self) -> None:
        names = {number: node for node, number in self._numbers.items()}
        for hole in black_holes.find_black_holes(
            self._ends, failures_min=black_holes.FAILURES_MIN, batches_min=black_holes.BATCHES_MIN
        ):
            node = names[hole.worker_id]
            wait_s = black_holes.retry_s(self._tries.get(node, 0), first_s=black_holes.FIRST_S)
            self._tries[node] = self._tries.get(node, 0) + 1
            self._until[node] = self._clock() + wait_s
            self._why[node] = hole.reason
            self._is_new = True
            kept = [other for other in self._ends if other.worker_id != hole.worker_id]
            self._ends = deque(kept, _ENDS_MAX)
            log.warning("worker.node_avoided", node=node, seconds=wait_s, why=hole.reason)
