"""How many jobs run at the same time, in a number or in terms of cores: the pure part of `-j`."""

import math
import re
from dataclasses import dataclass
from typing import Final

_LIMIT: Final = re.compile(r"([+-]?)([0-9]{1,9})|([0-9]{1,9}(?:\.[0-9]{1,9})?)%")


@dataclass(frozen=True)
class JobLimit:
    """`cores * per_core + more`; both together are what was written."""

    per_core: float = 0.0
    more: int = 0

    @property
    def is_fixed(self) -> bool:
        """Say whether it is the same on any number of cores."""
        return not self.per_core

    def on(self, cores: int) -> int:
        """Return the number of jobs on this number of cores; 0: no limit."""
        if self.is_fixed:
            return self.more
        return max(1, math.ceil(cores * self.per_core) + self.more)


def parse_job_limit(text: str) -> JobLimit:
    """Read `4`, `50%` of the cores, `+2` or `-1` beside their number, as GNU parallel does.
    Raise `ValueError`.

    >>> parse_job_limit("50%").on(cores=8)
    4
    """
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    if match[3] is not None:
        return JobLimit(per_core=float(match[3]) / 100) if float(match[3]) else JobLimit(more=1)
    return JobLimit(per_core=1.0 if match[1] else 0.0, more=int(match[1] + match[2]))
