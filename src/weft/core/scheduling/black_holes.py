"""Which workers are black holes: attempts fail there at once, while they succeed elsewhere.

Such a worker takes job after job, because it is always free, and fails them all.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

import msgspec

from weft.core.backoff import backoff_s
from weft.core.bounds import Seconds, Text

FAILURES_MIN: Final = 10
BATCHES_MIN: Final = 3
FAST_S: Final = 5.0
FIRST_S: Final = 60.0
"""Of workers the defaults of the driver's settings; gateways take them as they are."""
RETRY_LONGEST_S: Final = 3600.0

Outcome = Literal["none", "running", "success", "failure", "unknown"]


class Ends(msgspec.Struct, frozen=True, kw_only=True):
    """Attempts of one batch that ended on one worker at the same time."""

    worker_id: int
    pool_id: int
    batch_id: int
    at: datetime
    successes: int = 0
    fast_failures: int = 0
    """Failures at once."""
    slow_failures: int = 0
    """Other failures."""
    is_active: bool = True
    """The worker lives and takes jobs now, and is no gateway: those avoid single nodes."""


class BlackHole(msgspec.Struct, frozen=True):
    """A worker on which attempts fail at once."""

    worker_id: int
    n_failures: int
    n_batches: int

    @property
    def reason(self) -> str:
        """Say why it is cordoned."""
        return (
            f"{self.n_failures:,} attempts of {self.n_batches:,} batches in a row failed at once "
            "here, while others succeeded elsewhere"
        )


class AvoidedNode(msgspec.Struct, frozen=True):
    """A node of an engine on which a gateway begins nothing for now."""

    node: Text
    seconds: Seconds
    """For how long from now."""
    reason: Text


def find_black_holes(
    ends: Sequence[Ends], *, failures_min: int, batches_min: int
) -> list[BlackHole]:
    """Return the workers to cordon.

    `ends`: newest first. The attempts of a worker since its last success, or slow failure, count
    if there are enough of them, of enough batches, and another worker of its pool had a success
    in that time. Those of a batch that also fails at once elsewhere, and succeeds nowhere, do not
    count: it is probably the batch.
    """
    holes = []
    for worker_id in dict.fromkeys(end.worker_id for end in ends if end.is_active):
        streak = _streak(worker_id, ends)
        telling = [one for one in streak if _is_telling(one, ends)]
        n_failures = sum(one.fast_failures for one in telling)
        n_batches = len({one.batch_id for one in telling})
        is_enough = telling and n_failures >= failures_min and n_batches >= batches_min
        if is_enough and _succeeds_elsewhere(streak[-1], ends):
            holes.append(BlackHole(worker_id, n_failures, n_batches))
    return holes


def retry_s(failed_tries: int, *, first_s: float) -> float:
    """Return how long a black hole waits for its next try after this number of failed ones."""
    longest_s = max(first_s, RETRY_LONGEST_S)
    return backoff_s(failed_tries + 1, first_s=first_s, longest_s=longest_s, jitter=0)


def _streak(worker_id: int, ends: Sequence[Ends]) -> list[Ends]:
    """Return the ends of a worker since the last one that was no failure at once."""
    endses: list[Ends] = []
    for end in ends:
        if end.worker_id != worker_id:
            continue
        if end.successes or end.slow_failures:
            # A success of the same moment came perhaps later.
            return [other for other in endses if other.at > end.at]
        endses.append(end)
    return endses


def _is_telling(failed: Ends, ends: Sequence[Ends]) -> bool:
    of_batch = [one for one in ends if one.batch_id == failed.batch_id]
    others = [one for one in of_batch if one.worker_id != failed.worker_id]
    return any(one.successes for one in others) or not any(one.fast_failures for one in others)


def _succeeds_elsewhere(first: Ends, ends: Sequence[Ends]) -> bool:
    return any(
        end.successes
        and end.at >= first.at
        and end.pool_id == first.pool_id
        and end.worker_id != first.worker_id
        for end in ends
    )
