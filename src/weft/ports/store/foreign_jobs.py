"""Jobs that came through a door with ids of its own."""

from collections.abc import Sequence
from dataclasses import dataclass

from weft.core.states import JobState


@dataclass(frozen=True, kw_only=True)
class ForeignJobs:
    """Which jobs of a door are wanted, and in which order."""

    door: str
    foreign_id: str | None = None
    """None: all."""
    states: Sequence[JobState] | None = None
    """None: all."""
    by_change: bool = False
    """Those that changed last come first; else those that came last."""
    first_row: int = 0
    limit: int
