"""Work on a whole batch that outlives its request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Operation:
    """Work on a whole batch that the driver continues."""

    operation_id: int
    tenant_id: int
    batch_id: int
    kind: str
    arguments: Mapping[str, Any]
    position: int
    """Where its next step continues; the meaning depends on the kind."""
    n_total: int
    trace_id: str
