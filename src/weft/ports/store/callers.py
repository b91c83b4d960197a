"""Callers of the store, and the rows it returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Caller:
    """A user of a tenant who makes a call."""

    tenant_id: int
    user_id: int
    user_name: str
    is_admin: bool = False


Row = Mapping[str, Any]
"""A row as the SQL function returns it; the names are those of the documents."""
