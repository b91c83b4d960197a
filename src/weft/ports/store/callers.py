"""Callers of the store, and the rows it returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.core.rights import RIGHTS_OF, Right, UserRole


@dataclass(frozen=True)
class Caller:
    """A user of a tenant who makes a call."""

    tenant_id: int
    user_id: int
    user_name: str
    role: UserRole = UserRole.USER

    def may(self, right: Right) -> bool:
        """Return whether their role has this right."""
        return right in RIGHTS_OF[self.role]


Row = Mapping[str, Any]
"""A row as the SQL function returns it; the names are those of the documents."""
