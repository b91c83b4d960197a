"""How many requests a token and a user may send, and how many with wrong tokens an address: a
bucket for each, in the memory of this api.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final

from weft.core.errors import TooManyFailedLogins
from weft.core.login_attempts import LoginAttempt
from weft.ports.store import Caller
from weft.telemetry import metrics

BURST_S: Final = 10.0
"""A token or address that was silent for this long may send as many requests at once."""
TOKENS_MAX: Final = 10_000
"""The bucket that was not used for longest is forgotten: it is full, or nearly."""
REFUSED_AGAIN_S: Final = 60.0
"""Refusals of a token are not new for this time: a storm must not fill the log, nor cost more than
it has to.
"""


class Buckets:
    """A bucket of requests for each key, filled at a steady rate."""

    def __init__(self, per_s: float, clock: Callable[[], float]) -> None:
        self.per_s = per_s
        self.most = max(per_s * BURST_S, 1.0)
        self._clock = clock
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def level_of(self, key: Hashable) -> float:
        """Return how many requests are left."""
        now = self._clock()
        level, at = self._levels.get(key, (self.most, now))
        return min(self.most, level + (now - at) * self.per_s)

    def set_level(self, key: Hashable, level: float) -> None:
        """Note how many requests are left from now on."""
        self._levels[key] = (level, self._clock())
        self._levels.move_to_end(key)
        if len(self._levels) > TOKENS_MAX:
            self._levels.popitem(last=False)

    def wait_s(self, level: float) -> int:
        """Return the whole seconds until a bucket with this level has a request."""
        return max(1, math.ceil((1 - level) / self.per_s))


class FailedLogins:
    """Refuse addresses that send too many wrong tokens, before the database is asked for yet
    another one. `per_s`: 0: no limit.
    """

    def __init__(self, per_s: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._buckets = Buckets(per_s, clock) if per_s else None

    def check(self, address: str) -> None:
        """Raise `TooManyFailedLogins`."""
        if self._buckets is None:
            return
        level = self._buckets.level_of(sender_of(address))
        if level < 1:
            wait_s = self._buckets.wait_s(level)
            error = TooManyFailedLogins(
                "too many requests with wrong tokens come from your address",
                detail=f"It may send {self._buckets.per_s:g} per second in the long run.",
                hint=f"Try again in {wait_s} s, with a token that is valid.",
            )
            error.retry_after_s = wait_s
            error.login = LoginAttempt()
            raise error

    def note(self, address: str) -> None:
        """Count a request with a wrong token."""
        metrics.LOGINS_FAILED.inc()
        if self._buckets is not None:
            sender = sender_of(address)
            self._buckets.set_level(sender, max(0.0, self._buckets.level_of(sender) - 1))


def sender_of(address: str) -> Hashable:
    """Return what somebody has at least: an address of IPv4, or a /64 of IPv6."""
    try:
        found = ip_address(address)
    except ValueError:  # that of a Unix socket is empty
        return address
    if not isinstance(found, IPv6Address):
        return found
    return found.ipv4_mapped or int(found) >> 64


@dataclass(frozen=True)
class Verdict:
    """Whether a request may be served, and what the headers say of the next ones: by the bucket
    that has the fewest, or by the one that refuses for longest.
    """

    is_allowed: bool
    of: str
    """Of what the bucket is: `token` or `user`."""
    per_s: float
    remaining: int
    """Requests that may be sent at once."""
    full_in_s: int
    retry_in_s: int


class RateLimits:
    """A bucket of requests for each token, one for each user with all tokens; filled steadily."""

    def __init__(
        self, per_s: float, user_per_s: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`per_s`: of a token; `user_per_s`: of a user. 0: any number."""
        rates = {"token": per_s, "user": user_per_s}
        self._buckets = {of: Buckets(rate, clock) for of, rate in rates.items() if rate}
        self._policy = ", ".join(
            f'"{of}";q={int(buckets.most)};w={math.ceil(buckets.most / buckets.per_s)}'
            for of, buckets in self._buckets.items()
        ).encode()
        self._clock = clock
        self._refused_at: OrderedDict[Hashable, float] = OrderedDict()

    def take(self, caller: Caller) -> Verdict:
        """Take one request from each bucket of the caller, or none if one of them is empty. Users
        of other issuers' tokens have one bucket for these.
        """
        keys = {"token": _key_of(caller), "user": (0, caller.user_id)}
        levels = {of: one.level_of(keys[of]) for of, one in self._buckets.items()}
        is_allowed = all(level >= 1 for level in levels.values())
        verdicts = []
        for of, buckets in self._buckets.items():
            level = levels[of] - is_allowed
            buckets.set_level(keys[of], level)
            full_in_s = math.ceil((buckets.most - level) / buckets.per_s)
            wait_s = buckets.wait_s(level)
            verdicts.append(Verdict(is_allowed, of, buckets.per_s, int(level), full_in_s, wait_s))
        if is_allowed:
            return min(verdicts, key=lambda verdict: verdict.remaining)
        return max(verdicts, key=lambda verdict: (verdict.remaining < 1, verdict.retry_in_s))

    def is_new_refusal(self, caller: Caller) -> bool:
        """Say whether the log should tell of a refusal: the first of a minute."""
        key, now = _key_of(caller), self._clock()
        at = self._refused_at.get(key)
        if at is not None and now < at + REFUSED_AGAIN_S:
            return False
        self._refused_at[key] = now
        self._refused_at.move_to_end(key)
        if len(self._refused_at) > TOKENS_MAX:
            self._refused_at.popitem(last=False)
        return True

    def headers(self, verdict: Verdict) -> list[tuple[bytes, bytes]]:
        """Return the headers of a reply.

        Source: draft-ietf-httpapi-ratelimit-headers-10; RFC 9110, section 10.2.3.
        """
        left = f'"{verdict.of}";r={verdict.remaining};t={verdict.full_in_s}'
        found = [(b"ratelimit-policy", self._policy), (b"ratelimit", left.encode())]
        if not verdict.is_allowed:
            found.append((b"retry-after", str(verdict.retry_in_s).encode()))
        return found


def _key_of(caller: Caller) -> Hashable:
    """Return whose requests are counted together."""
    return caller.token_id, 0 if caller.token_id else caller.user_id
