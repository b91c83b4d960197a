"""Work on a whole batch that outlives its request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Operation:
    """Work on a whole batch that the driver goes on with."""

    operation_id: int
    tenant_id: int
    batch_id: int
    kind: str
    arguments: Mapping[str, Any]
    position: int
    """Where its next step goes on; the meaning is the kind's."""
    n_total: int
    trace_id: str
