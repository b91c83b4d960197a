"""The calls of the api about jobs that doors keep with documents of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from weft.core.query.tree import EVERYTHING, Node
from weft.ports.store.callers import Caller, Row
from weft.ports.store.queries import NEWEST, QueryLimits


class Span(NamedTuple):
    """A time, both ends included."""

    since: datetime | None
    """None: it has no begin."""
    until: datetime | None
    """None: it has no end."""


@dataclass(frozen=True, kw_only=True)
class DoorJobQuery:
    """A page of jobs of a door."""

    door: str
    query: Node = EVERYTHING
    """Of terms of the door alone."""
    name: str | None = None
    """Only those whose batches have this name."""
    kind: str | None = None
    """Only those that were submitted as of this kind (`NewBatch.foreign_kind`)."""
    ended: Span | None = None
    """What they meet only if they ended then: where few did, no others are looked at."""
    sort_key: str | None = None
    """What they are sorted by, in SQL, as terms of the door; None: their age."""
    has_all: bool = False
    """Each has a value by which it is sorted; else those without one are the smallest."""
    is_descending: bool = True
    before: int = NEWEST
    """Numbers of their batches are below."""
    hidden: bool = False
    """Also those that are hidden."""
    offset: int = 0
    limit: int
    limits: QueryLimits


class DoorJobStore(Protocol):
    """Jobs of doors, for whom they are: the owner, those to whom they were granted, and whoever
    sees the tenant. Members of their billing projects do not see them here.
    """

    async def find_door_job(
        self, caller: Caller, door: str, foreign_id: str, *, hidden: bool
    ) -> Row | None:
        """Return a job by the id of the door, with what happened to it; `hidden`: also if lists
        leave it out. None: there is none for the caller. Raise `PermissionMissing` if what they
        were granted is not what the caller needs.
        """

    async def list_door_jobs(self, caller: Caller, wanted: DoorJobQuery) -> Sequence[Row]:
        """Return the caller's own jobs and those granted to them, as `find_door_job` does. Raise
        `QueryTooSlow`.
        """
