"""When a run of many jobs stops before its input ends: the pure part of `weft each --halt`."""

import math
import re
from dataclasses import dataclass, replace
from typing import Literal

_RULE = re.compile("(now|soon),(fail|success|done)=(?:([1-9][0-9]{0,8})|([1-9][0-9]?|100)%)")


@dataclass(frozen=True)
class Halt:
    """Stop when this number of jobs have failed, succeeded or ended."""

    when: Literal["now", "soon"]
    """`soon` lets running jobs end, `now` stops them."""
    kind: Literal["fail", "success", "done"]
    count: int
    """0: not known yet."""
    percent: int | None = None
    """The share of all jobs that the count stands for."""

    def among(self, n_jobs: int) -> "Halt":
        """Return the rule for a run of this number of jobs."""
        if self.percent is None:
            return self
        return replace(self, count=max(1, math.ceil(n_jobs * self.percent / 100)))

    def is_reached(self, *, n_failed: int, n_succeeded: int) -> bool:
        """Say whether these numbers of ended jobs are enough."""
        ended = {"fail": n_failed, "success": n_succeeded, "done": n_failed + n_succeeded}
        return ended[self.kind] >= self.count

    def __str__(self) -> str:
        """Return the rule as it was written."""
        amount = self.count if self.percent is None else f"{self.percent}%"
        return f"{self.when},{self.kind}={amount}"


def parse_halt(text: str) -> Halt | None:
    """Read `now,fail=1` or `soon,fail=10%`; None for `never`. Raise `ValueError` for anything
    else.

    >>> parse_halt("soon,fail=3")
    Halt(when='soon', kind='fail', count=3, percent=None)
    """
    if text == "never":
        return None
    match = _RULE.fullmatch(text)
    if match is None:
        raise ValueError(text)
    when: Literal["now", "soon"] = "now" if match[1] == "now" else "soon"
    kind: Literal["fail", "success", "done"] = "fail"
    if match[2] != "fail":
        kind = "success" if match[2] == "success" else "done"
    return Halt(when, kind, int(match[3] or 0), int(match[4]) if match[4] else None)
