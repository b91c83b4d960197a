"""The users of a tenant, in the api's store."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from weft.core.access.rights import UserRole
from weft.ports.store import Caller, Row
from weft.store.callers import digest_of
from weft.store.database import StorePart
from weft.store.declared import (
    calls,
    documents,
    nothing,
    user_id,
    value,
)


class Users(StorePart):
    """The users of the caller's tenant, as `user_id, name, role, last_seen_at`.

    Names are unique without regard to case. Each change raises `RightMissing` if the caller's role
    is no longer the one of `Caller`.
    """

    @calls(documents, limit="limit_rows")
    async def list_users(self, caller: Caller, *, after: int, limit: int) -> Sequence[Row]:
        """Return users who are not removed, with larger numbers, in their order."""

    @calls(
        value,
        name="of_name",
        role="of_role",
        token=("token_hash", digest_of),
        by_user_id=user_id,
        by_role=lambda caller: caller.role,
    )
    async def add_user(
        self,
        caller: Caller,
        name: str,
        role: UserRole,
        token: str,
        *,
        idempotency_key: str | None = None,
    ) -> Row:
        """Let a user in, for whom this token stands; return the document. One who was removed
        comes back. A repeat with the same key replaces the token, unless it was used. Raise
        `UserExists`.
        """

    @calls(
        value,
        name="of_name",
        role="new_role",
        by_user_id=user_id,
        by_role=lambda caller: caller.role,
    )
    async def set_user_role(
        self, caller: Caller, name: str, role: UserRole, *, may_give: Collection[UserRole]
    ) -> Row:
        """Give a user another role, and tell every api; return the document.

        Raise `UserNotFound`; `LastAdministrator`; `RightMissing` if the role that they have is
        not one of `may_give`.
        """

    @calls(value, name="of_name")
    async def set_user_weight(
        self, caller: Caller, name: str, weight: int, until: datetime | None
    ) -> Row:
        """Give a user another weight in fair shares, until a date if there is one; return the
        document. Raise `UserNotFound`.
        """

    async def admit_user(
        self, tenant: str, name: str, role: UserRole | None, *, may_create: bool
    ) -> Caller | None:
        """Return the user for whom a trusted issuer vouches, None if there is no such user or
        tenant. They get this role (None: keep theirs); somebody new becomes a user if
        `may_create`.
        """
        rows = await self._database.call(
            "admit_user", of_tenant=tenant, of_name=name, of_role=role, may_create=may_create
        )
        if not rows:
            return None
        tenant_id, user_id, user_name, found = rows[0]
        return Caller(tenant_id, user_id, user_name, UserRole(found))

    @calls(value, name="of_name", by_user_id=user_id, by_role=lambda caller: caller.role)
    async def remove_user(
        self, caller: Caller, name: str, *, may_give: Collection[UserRole]
    ) -> Row:
        """Take a user out, with tokens and memberships, pause their schedules, and tell every api;
        return the document, with `on_user_removal` of the tenant. A repeat does nothing. Raise
        what `set_user_role` raises.
        """

    @calls(documents, user_id="of_user_id", limit="limit_rows")
    async def list_open_batches(
        self, caller: Caller, user_id: int, *, after: int, limit: int
    ) -> Sequence[int]:
        """Return batches of a user that may have jobs which have not ended, in their order."""

    @calls(nothing, user_id="of_user_id", problem="error")
    async def stop_work(self, caller: Caller, user_id: int, problem: Mapping[str, Any]) -> None:
        """End the retries and resubmissions of a user that are not done, with an error, given as
        a problem document: no more jobs run again, and no batch comes of a resubmission.
        """
