"""The part of `ApiStore` for tenants, their users, and who may see what."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from weft.core.access.rights import Permission, UserRole
from weft.ports.store import Action, Caller, Row, Visited
from weft.store.database import StorePart
from weft.store.declared import (
    actor,
    calls,
    documents,
    nothing,
    number,
    tenant_id,
    truth,
    user_id,
    value,
)
from weft.store.documents import all_with_words
from weft.store.sessions import digest_of

AFTER_ALL: Final = (2**63 - 1, 2**31 - 1)


class Tenants(StorePart):
    """All tenants, and what their users may do with batches of others.

    The users of the caller's tenant, as `user_id, name, role, last_seen_at`.

    Names are unique without regard to case. Each change raises `RightMissing` if the caller's role
    is no longer the one of `Caller`.
    """

    @calls(value, caller=None, tenant_id=tenant_id)
    async def tenant_name(self, caller: Caller) -> str:
        """Return the name of the caller's tenant."""

    @calls(documents, limit="limit_rows")
    async def list_tenants(self, *, after: int, limit: int) -> Sequence[Row]:
        """Return `tenant_id, name, n_users, on_user_removal, allowed` of tenants with larger
        numbers, in their order.
        """

    @calls(number, name="of_name")
    async def find_tenant(self, name: str) -> int:
        """Return a tenant's number, for administrators of the site. Raise `TenantNotFound`."""

    @calls(
        lambda rows: Visited(**rows[0]) if rows else None,
        name="of_name",
        by_user_id=lambda action: action.caller.user_id,
        request=lambda action: action.row(),
    )
    async def begin_visit(self, action: Action, name: str) -> Visited | None:
        """Let the caller of this action look into the tenant of this name, and add that to its
        trail; return None if it does not exist, or they do not administer the site. Looking into
        one's own tenant is in no trail.
        """

    @calls(value, name="of_name")
    async def get_tenant(self, tenant_id: int, name: str) -> Row:
        """Return the document of a tenant, as `list_tenants` has it. Raise `TenantNotFound` if
        this is not the name of the tenant with this number.
        """

    @calls(value, name="of_name")
    async def set_tenant(self, tenant_id: int, name: str, patch: Mapping[str, Any]) -> Row:
        """Change what the patch names of a tenant, `on_user_removal` and kinds of `allowed`;
        return the document. Raise what `get_tenant` raises.
        """

    @calls(value, caller=None, tenant_id=tenant_id)
    async def tenant_allowed(self, caller: Caller) -> Mapping[str, Sequence[str]]:
        """Return patterns of what jobs of the caller's tenant may choose, by kind (`image`,
        `partition` …); of a missing kind anything.
        """

    @calls(
        number,
        caller=None,
        name="of_name",
        admin="admin_name",
        token=("token_hash", digest_of),
        by_user_id=user_id,
    )
    async def create_tenant(
        self,
        caller: Caller,
        name: str,
        *,
        admin: str,
        token: str,
        idempotency_key: str | None = None,
    ) -> int:
        """Make a tenant with a billing project and a queue `default`, to the shared pool, and with
        a first user, a tenant-admin for whom this token stands; return its number. A repeat with
        the same key replaces the token, unless it was used. Raise `TenantExists`, or
        `RightMissing` if the caller is no longer an admin.
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

    @calls(value, user="of_user", actor=actor)
    async def share_batch(
        self,
        caller: Caller,
        batch_id: int,
        user: str,
        permission: Permission | None,
        *,
        said: str | None = None,
    ) -> Row:
        """Let a user of the tenant do this with a batch, instead of what they could; None: nothing
        more. Return `batch_id, user_id, user, permission, granted_by, granted_at`. `said`: what
        the client of a door called it, kept in the history: `bob: all (WRITE)`.

        Raise `BatchNotFound`, `PermissionMissing`, `UserNotFound`.
        """

    @calls(value, user="of_user", actor=actor)
    async def share_job(
        self, caller: Caller, batch_id: int, job_id: int, user: str, permission: Permission | None
    ) -> Row:
        """Do what `share_batch` does with one job; the row also has its `job_id`.

        Raise `BatchNotFound`, `JobNotFound`, `PermissionMissing`, `UserNotFound`.
        """

    @calls(documents, limit="limit_rows")
    async def list_job_permissions(
        self, caller: Caller, batch_id: int, job_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return with whom one job is shared, as `share_job` does, after a user number.

        Raise `BatchNotFound`, `JobNotFound`.
        """

    @calls(
        all_with_words,
        of_user_id=user_id,
        limit="limit_rows",
        before_batch=lambda before: (before or AFTER_ALL)[0],
        before_job=lambda before: (before or AFTER_ALL)[1],
    )
    async def list_shared_jobs(
        self, caller: Caller, *, before: tuple[int, int] | None, limit: int
    ) -> Sequence[Row]:
        """Return the documents of single jobs that were shared with the caller, with `permission,
        granted_by, granted_at`, below a batch and job number, the highest first.
        """

    @calls(truth)
    async def sees_batch(self, caller: Caller, batch_id: int) -> bool:
        """Return whether the caller sees the whole batch; False: single jobs of it alone.

        Raise `BatchNotFound`.
        """

    @calls(lambda rows: frozenset(row[0] for row in rows))
    async def list_allowed(self, caller: Caller, batch_ids: Sequence[int]) -> Collection[int]:
        """Return on which of these batches the caller may do what the request needs."""

    @calls(documents, limit="limit_rows")
    async def list_permissions(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return with whom a batch is shared, as `share_batch` does, after a user number.

        Raise `BatchNotFound`.
        """
