"""The part of `ApiStore` for the users of a tenant."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from weft.core.access.rights import UserRole
from weft.ports.store import Caller, Row
from weft.store.database import Database
from weft.store.tokens import digest_of


class Users:
    """The api's calls about users. The methods are documented at the port."""

    _database: Database

    async def list_users(self, caller: Caller, *, after: int, limit: int) -> Sequence[Row]:
        """Return documents of users."""
        rows = await self._database.call(
            "list_users", caller=caller, after=after, limit_rows=limit
        )
        return [row[0] for row in rows]

    async def add_user(
        self,
        caller: Caller,
        name: str,
        role: UserRole,
        token: str,
        *,
        idempotency_key: str | None = None,
    ) -> Row:
        """Let a user in."""
        document: Row = await self._database.value(
            "add_user",
            caller=caller,
            by_user_id=caller.user_id,
            by_role=caller.role,
            of_name=name,
            of_role=role,
            token_hash=digest_of(token),
            idempotency_key=idempotency_key,
        )
        return document

    async def set_user_role(
        self, caller: Caller, name: str, role: UserRole, *, may_give: Collection[UserRole]
    ) -> Row:
        """Give a user another role."""
        document: Row = await self._database.value(
            "set_user_role",
            caller=caller,
            by_user_id=caller.user_id,
            by_role=caller.role,
            of_name=name,
            new_role=role,
            may_give=list(may_give),
        )
        return document

    async def admit_user(
        self, tenant: str, name: str, role: UserRole | None, *, may_create: bool
    ) -> Caller | None:
        """Return the user for whom a trusted issuer vouches."""
        rows = await self._database.call(
            "admit_user", of_tenant=tenant, of_name=name, of_role=role, may_create=may_create
        )
        if not rows:
            return None
        tenant_id, user_id, user_name, found = rows[0]
        return Caller(tenant_id, user_id, user_name, UserRole(found))

    async def remove_user(
        self, caller: Caller, name: str, *, may_give: Collection[UserRole]
    ) -> Row:
        """Take a user out."""
        document: Row = await self._database.value(
            "remove_user",
            caller=caller,
            by_user_id=caller.user_id,
            by_role=caller.role,
            of_name=name,
            may_give=list(may_give),
        )
        return document

    async def list_open_batches(
        self, caller: Caller, user_id: int, *, after: int, limit: int
    ) -> Sequence[int]:
        """Return batches of a user that may not have ended."""
        rows = await self._database.call(
            "list_open_batches",
            caller=caller,
            of_user_id=user_id,
            after=after,
            limit_rows=limit,
        )
        return [row[0] for row in rows]

    async def stop_work(self, caller: Caller, user_id: int, problem: Mapping[str, Any]) -> None:
        """End what a user has begun."""
        await self._database.call(
            "stop_work", caller=caller, of_user_id=user_id, error=dict(problem)
        )
