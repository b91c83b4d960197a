"""When a callback, a notice or a sink's message is tried again, and when it is given up."""

from dataclasses import dataclass
from typing import Final, Literal

from msgspec import Struct

from weft.core.backoff import backoff_s

GONE = 410
"""The receiver's own word for "never again" (RFC 9110)."""


@dataclass(frozen=True)
class RetryPlan:
    """The limits of one deployment."""

    first_s: float
    longest_s: float
    attempts_max: int
    age_max_s: float


def is_delivered(status: int | None) -> bool:
    """Say whether an answer means that the receiver has it. A redirection does not."""
    return status is not None and 200 <= status < 300  # noqa: PLR2004 (2xx)


def next_try_s(
    plan: RetryPlan, status: int | None, *, attempts: int, age_s: float, jitter: float
) -> float | None:
    """Return the delay before the next attempt, or None if there is none.

    `status`: the answer, None if there was none. `attempts`: those made, this one included.
    `age_s`: since the completion. `jitter` in [0, 1), as in `backoff_s`. The last attempt is made
    at the end of the age, not beyond it.
    """
    if status == GONE or attempts >= plan.attempts_max or age_s >= plan.age_max_s:
        return None
    delay_s = backoff_s(attempts, first_s=plan.first_s, longest_s=plan.longest_s, jitter=jitter)
    return min(delay_s, plan.age_max_s - age_s)


RETRIES_MAX: Final = 1440
PAUSE_MAX_S: Final = 86_400.0


class NoticePolicy(Struct, frozen=True, kw_only=True):
    """The policy of a subscription."""

    strategy: Literal["none", "immediate", "delayed", "exponential"] = "immediate"
    """`none`: one attempt; `immediate`: again at once, then after a pause each; `delayed`: after
    the delay first, then after a pause each; `exponential`: after the delay and a pause that
    doubles each time.
    """
    retries: int = 5
    """After the first attempt."""
    pause_s: float = 5.0
    delay_s: float = 0.0


def next_notice_s(policy: NoticePolicy, attempts: int) -> float | None:
    """Return the delay before the next attempt, or None. `attempts`: those made, at least one."""
    if policy.strategy == "none" or attempts > policy.retries:
        return None
    if policy.strategy == "exponential":
        doubled: float = policy.pause_s * 2.0 ** min(attempts - 1, 32)
        return min(policy.delay_s + doubled, PAUSE_MAX_S)
    if attempts > 1:
        return policy.pause_s
    if policy.strategy == "immediate":
        return 0.0
    return policy.delay_s or policy.pause_s
