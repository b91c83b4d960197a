"""Jobs that came through a door with ids of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from weft.core.states import JobState


class ForeignOrder(StrEnum):
    """Which jobs come first."""

    CREATED = "created"
    """Those that came last."""
    CHANGED_LAST = "changed_last"
    CHANGED_FIRST = "changed_first"


@dataclass(frozen=True, kw_only=True)
class ForeignJobs:
    """Which jobs of a door are wanted, and in which order."""

    door: str
    foreign_id: str | None = None
    """None: all."""
    states: Sequence[JobState] | None = None
    """None: all. With some, `order` is one by changes."""
    order: ForeignOrder = ForeignOrder.CREATED
    first_row: int = 0
    limit: int
