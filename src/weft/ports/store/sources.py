"""Calls about sources of production lines and their items: the api's, and what drivers hear."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, NamedTuple

from weft.ports.store.callers import Caller

ItemState = Literal["new", "waiting", "ready", "job", "cancelled", "refused"]
Document = Mapping[str, Any]


class DueSource(NamedTuple):
    """A source that is to be read."""

    source_id: int
    name: str
    kind: str
    options: Document
    every_s: float
    generation: int
    """A reading of an earlier one is void."""
    cursor: Document | None
    n_failures: int
    """Readings in a row."""
    sealed: Document | None = None
    """The secrets that its options name: `tenant_id` and `user_id` of their owner, and `bodies`,
    encrypted and in base64, by their names. None: they name none.
    """
    tenant_id: int = 0


class TakenItem(NamedTuple):
    """An item of which a job is to be made."""

    n: int
    key: str
    fields: Document
    document: Document | None
    """Of its job, which is being submitted; None: to be decided."""
    found_at: str


@dataclass(frozen=True, kw_only=True)
class TakenSource:
    """A source whose items an api has, before any other one."""

    source_id: int
    name: str
    lifecycle: str | None
    billing_project: str
    template: Document
    owner: Caller
    taking: int
    bunch: int = 0
    batch_id: int | None = None
    """Where the jobs of this set go; None: to a new batch."""
    batch_day: date | None = None
    items: Sequence[TakenItem] = ()
    """The oldest first."""
    sealed: Document | None = None
    """The secrets that its look-ups name, as of `DueSource`."""


class Decision(NamedTuple):
    """What becomes of an item."""

    n: int
    state: ItemState
    document: Document | None = None
    """Of its job, if it is ready."""
    reason: str | None = None
    """If it is not."""
    due_in_s: float | None = None
    """When it is looked at again, if it waits."""
    parameters: Mapping[str, int] | None = None
    """The versions that decided about it."""


class Target(NamedTuple):
    """Where the jobs of a set go."""

    bunch: int
    batch_id: int | None
    batch_day: date
    n_late: int = 0
    """Items after which something in their series was decided before."""
    n_again: int = 0
    """Items that are decided again therefore."""
