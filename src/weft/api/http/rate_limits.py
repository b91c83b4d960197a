"""How many requests a token may send: a bucket for each, in the memory of this api."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from weft.ports.store import Caller

BURST_S: Final = 10.0
"""A token that was silent for this long may send as many requests at once."""
TOKENS_MAX: Final = 10_000
"""The bucket that was not used for longest is forgotten: it is full, or nearly."""
Key = tuple[int, int]


@dataclass(frozen=True)
class Verdict:
    """Whether a request may be served, and what the headers say of the next ones."""

    is_allowed: bool
    remaining: int
    """Requests that may be sent at once."""
    full_in_s: int
    retry_in_s: int


class RateLimits:
    """A bucket of requests for each token, filled at a steady rate."""

    def __init__(self, per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_s = per_s
        self._most = max(per_s * BURST_S, 1.0)
        self._clock = clock
        self._levels: OrderedDict[Key, tuple[float, float]] = OrderedDict()
        self._policy = f'"token";q={int(self._most)};w={math.ceil(self._most / per_s)}'.encode()

    def take(self, caller: Caller) -> Verdict:
        """Take one request from the bucket of the caller's token; users of other issuers' tokens
        have one each.
        """
        key = (caller.token_id, 0 if caller.token_id else caller.user_id)
        now = self._clock()
        level, at = self._levels.pop(key, (self._most, now))
        level = min(self._most, level + (now - at) * self.per_s)
        is_allowed = level >= 1
        level -= is_allowed
        self._levels[key] = (level, now)
        if len(self._levels) > TOKENS_MAX:
            self._levels.popitem(last=False)
        return Verdict(
            is_allowed,
            int(level),
            math.ceil((self._most - level) / self.per_s),
            max(1, math.ceil((1 - level) / self.per_s)),
        )

    def headers(self, verdict: Verdict) -> list[tuple[bytes, bytes]]:
        """Return the headers of a reply.

        Source: draft-ietf-httpapi-ratelimit-headers-10; RFC 9110, section 10.2.3.
        """
        left = f'"token";r={verdict.remaining};t={verdict.full_in_s}'
        found = [(b"ratelimit-policy", self._policy), (b"ratelimit", left.encode())]
        if not verdict.is_allowed:
            found.append((b"retry-after", str(verdict.retry_in_s).encode()))
        return found
