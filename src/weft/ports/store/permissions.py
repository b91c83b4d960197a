"""The part of the store that shares batches."""

from collections.abc import Sequence
from typing import Protocol

from weft.core.permissions import Permission
from weft.ports.store.callers import Caller, Row


class PermissionStore(Protocol):
    """What users may do with batches of others."""

    async def share_batch(
        self, caller: Caller, batch_id: int, user: str, permission: Permission | None
    ) -> Row:
        """Let a user of the tenant do this with a batch, instead of what they could; None: nothing
        more. Return `batch_id, user_id, user, permission, granted_by, granted_at`.

        Raise `BatchNotFound`, `PermissionMissing`, `UserNotFound`.
        """

    async def list_permissions(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return with whom a batch is shared, as `share_batch` does, after a user number.

        Raise `BatchNotFound`.
        """
