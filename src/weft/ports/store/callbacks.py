"""Values that a driver and its store exchange about callbacks, messages of sinks and notices."""

from collections.abc import Mapping
from typing import Any

import msgspec


class DueCallback(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery to be sent now."""

    delivery_id: int
    name: str
    """What the receiver is told; the same in every attempt."""
    tenant_id: int
    batch_id: int
    group_id: int | None
    """None for a message and a notice."""
    url: str
    body: str
    """The status document, as it was at the completion."""
    n_attempts: int
    """Those made before this one."""
    age_s: float
    """Since the completion."""
    sent_at: int
    """The database's time, in seconds since 1970."""
    door: str | None = None
    """Through which the batch came; None: none."""
    key: str | None = None
    """With which the batch was created, if it came through a door."""
    job_id: int | None = None
    """Of a message."""
    sink: Mapping[str, Any] | None = None
    """Of a message: what its sink says; `body` is what its template gets."""
    subscription: Mapping[str, Any] | None = None
    """Of a notice: `name` and `policy` of its subscription."""


class DeliveryReport(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one attempt. Not delivered and no `retry_in_s`: the delivery is given up."""

    delivery_id: int
    delivered: bool
    status: int | None
    error: str | None
    retry_in_s: float | None
    rejected: bool = False
    """The receiver wants no such message."""
    held: bool = False
    """A check stops it, until a person decides."""
