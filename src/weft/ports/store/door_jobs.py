"""The calls of the api about jobs that doors keep with documents of their own."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from weft.core.query.tree import EVERYTHING, Node
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
