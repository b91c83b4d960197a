"""When a notice that did not arrive is tried again, as its subscription says."""

from typing import Final, Literal

from msgspec import Struct

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
    """Return the delay before the next attempt, or None if there is none. `attempts`: those made,
    at least one.
    """
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
