"""Which attempt, the name under which a remote engine knows it, and what it is told meanwhile."""

import re

import msgspec

from weft.core.bounds import LongNumber, Number, ShortNumber

_NAME = re.compile(r"weft-b([1-9][0-9]{0,17})-j([1-9][0-9]{0,8})-a([1-9][0-9]{0,4})")


class AttemptKey(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Which attempt: batch number, job number, attempt number."""

    batch_id: LongNumber
    job_id: Number
    attempt: ShortNumber

    @property
    def name(self) -> str:
        """Return `weft-b12-j7-a1`: no other attempt ever has this name, so a second submission
        under it is the same one.
        """
        return f"weft-b{self.batch_id}-j{self.job_id}-a{self.attempt}"


def parse_attempt_name(name: str) -> AttemptKey | None:
    """Read `weft-b12-j7-a1`; None: it is not the name of an attempt."""
    match = _NAME.fullmatch(name)
    return None if match is None else AttemptKey(*map(int, match.groups()))


class Command(msgspec.Struct, frozen=True):
    """One command: from the database to the agent, and from there to its runner."""

    number: int
    key: AttemptKey
    signal: int | None = None
    """A signal for its first process."""
    extra_ms: int = 0
    """Without a signal or message: by how much longer than its time limit it may run, in all."""
    message: str | None = None
    """A text that it gets as a file."""
