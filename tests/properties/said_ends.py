"""What workers say of the ends of attempts, and what the rules of a job make of it."""

from typing import NamedTuple

from weft.core.scheduling.time_limits import ASK, limit_class
from weft.core.states import Reason

END_RULES = {"exits": [[3, 3]], "signals": [10], "external": [[66, 66]]}
"""What a job with rules says of its ends."""
MEMORY_MIB = (512, 1024, 2048)
"""What jobs that ask for more have, by how often their memory was too small."""
LIMITS_S = (60, 120, 200)
"""How long they may run, by how often that was too short."""
MORE = [
    {"after": 1, "reasons": [int(Reason.OOM)], "size": "memory_mib", "values": [*MEMORY_MIB]},
    {
        "after": 1,
        "reasons": [int(Reason.TIMEOUT)],
        "word": ASK,
        "values": [limit_class(one) for one in LIMITS_S],
        "limits_ms": [one * 1000 for one in LIMITS_S],
    },
]
"""How they ask for it."""


class End(NamedTuple):
    """What a worker says of the end of an attempt."""

    reason: Reason | None = None
    exit_code: int | None = None
    signal: int | None = None
    waits_for: int | None = None
    """What the job asked to wait for."""


ENDS = (
    *[End()] * 4,
    *[End(Reason.EXIT, code) for code in (1, 3, 3, 66, 75)],
    *[End(Reason.SIGNAL, signal=number) for number in (10, 11)],
    End(Reason.OOM),
    End(Reason.TIMEOUT),
    End(Reason.PREEMPTED),
    End(Reason.CANCELLED),
)
"""What they say in a test, some of it more often."""
FAILS, WAITS, TOO_LONG = End(Reason.EXIT, 1), End(Reason.EXIT, 75), End(Reason.TIMEOUT)


def meaning_of(end: End, *, has_rules: bool) -> tuple[Reason | None, bool]:
    """Return the reason that counts, and whether the rules of the job forbid another try."""
    if end.reason is Reason.EXIT:
        if end.exit_code == 75 or (has_rules and end.exit_code == 66):
            return Reason.BLOCKED, False
        return Reason.EXIT, has_rules and end.exit_code != 3
    return end.reason, has_rules and end.reason is Reason.SIGNAL and end.signal != 10
