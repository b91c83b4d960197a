"""Work on a whole batch, or on many, that outlives its request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.ports.store.callers import Row


@dataclass(frozen=True)
class Operation:
    """Work on a whole batch, or on many, that the driver continues."""

    operation_id: int
    tenant_id: int
    batch_id: int | None
    """None: it is on many."""
    kind: str
    arguments: Mapping[str, Any]
    position: int
    """Where its next step continues; the meaning depends on the kind."""
    n_total: int
    trace_id: str

    @property
    def only_batch_id(self) -> int:
        """The batch of work that is on one."""
        assert self.batch_id is not None, "work on many batches has no only one"
        return self.batch_id


@dataclass(frozen=True)
class Resubmitted:
    """The next jobs that a resubmission copies to its new batch."""

    upto: int
    """The last number that was examined."""
    first: int
    """The number that the first of them gets."""
    jobs: Sequence[Row]
    """In the order of their numbers."""
