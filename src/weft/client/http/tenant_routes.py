"""The routes about tenants, who belongs to them and who pays, one method each."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from weft.client.http.calls import Requests
from weft.client.http.listing import Document, Listing
from weft.client.http.session import new_key
from weft.core.errors import BadId
from weft.wire.documents.imports import IMPORTED_MAX


class TenantRoutes(Requests):
    """`/v1/users`, `/v1/billing-projects`, `/v1/trail`, for administrators of the tenant;
    `/v1/tenants`, for those of the site; with whom batches are shared.
    """

    def list_tenants(self) -> Listing:
        """Yield all tenants in the order of their numbers."""
        return self._list("/v1/tenants", {})

    async def create_tenant(self, name: str, *, admin: str) -> Document:
        """Create a tenant with its first user; the text of their token is the answer's `token`,
        for the only time. Raise `TenantExists`.
        """
        return await self._post("/v1/tenants", {"name": name, "admin": admin}, key=new_key())

    async def get_tenant(self, name: str) -> Document:
        """Return a tenant. Raise `TenantNotFound`."""
        return await self._get(_tenant_path(name))

    async def set_tenant(self, name: str, changes: Document) -> Document:
        """Change `on_user_removal` or `allowed` of a tenant; return it. Raise `TenantNotFound`."""
        return await self._patch(_tenant_path(name), changes)

    async def import_jobs(
        self, door: str, jobs: Sequence[Document], *, check: bool = False
    ) -> Document:
        """Take over any number of jobs that have ended in another system, in requests of a bounded
        size once all of them are right; return `n_new` and `n_known`. `check`: only look at them.
        Raise `InvalidValue`.
        """
        pages = [jobs[at : at + IMPORTED_MAX] for at in range(0, len(jobs), IMPORTED_MAX)]
        counts = dict.fromkeys(("n_new", "n_known"), 0)
        for checks in (True,) if check else (True, False):
            for page in pages:
                asked = {"door": door, "jobs": page, "check": checks}
                told = await self._post("/v1/imports", asked)
                counts = {name: n + told[name] for name, n in counts.items()}
        return counts

    def list_trail(self, *, since: datetime | None = None, **query: Any) -> Listing:  # noqa: ANN401 (as `Client.list_trail` has them)
        """Yield entries of the trail, newest first."""
        start = None if since is None else since.isoformat()
        return self._list("/v1/trail", {**query, "from": start})

    def list_users(self) -> Listing:
        """Yield the users of the tenant in the order of their numbers."""
        return self._list("/v1/users", {})

    async def add_user(self, name: str, *, role: str = "user") -> Document:
        """Let a user in; the text of their first token is the answer's `token`, for the only time.
        Raise `UserExists`.
        """
        return await self._post("/v1/users", {"name": name, "role": role}, key=new_key())

    async def set_user_role(self, name: str, role: str) -> Document:
        """Give a user another role; return the user. Raise `UserNotFound`,
        `LastAdministrator`.
        """
        return await self._patch(_user_path(name), {"role": role})

    async def remove_user(self, name: str, *, cancel_batches: bool | None = None) -> Document:
        """Remove a user; return `name, on_user_removal, n_cancelled`. Raise `UserNotFound`,
        `LastAdministrator`.
        """
        return await self._delete(_user_path(name), {"cancel_batches": cancel_batches})

    async def create_project(self, name: str, *, cost_max: float | None = None) -> Document:
        """Create a billing project; return it. Raise `ProjectExists`."""
        document = {"name": name, "cost_max": cost_max}
        return await self._post("/v1/billing-projects", document, key=new_key())

    async def get_project(self, name: str) -> Document:
        """Return a billing project with its members and costs. Raise `ProjectNotFound`."""
        return await self._get(_project_path(name))

    async def change_project(self, name: str, changes: Document) -> Document:
        """Change `closed`, `cost_max`, `cost_soft_max` or `on_limit` of a billing project;
        return it. Raise `ProjectNotFound`.
        """
        return await self._patch(_project_path(name), changes)

    async def delete_project(self, name: str) -> None:
        """Delete a closed billing project. Raise `ProjectNotFound`, `ProjectOpen`."""
        await self._delete(_project_path(name))

    async def add_project_member(self, name: str, user: str) -> Document:
        """Let a user charge a billing project; return it. Raise `ProjectNotFound`,
        `UserNotFound`.
        """
        return await self._put(_member_path(name, user), {})

    async def remove_project_member(self, name: str, user: str) -> Document:
        """Let a user no longer charge a billing project; return it. Raise `ProjectNotFound`,
        `UserNotFound`.
        """
        return await self._delete(_member_path(name, user))

    def list_permissions(self, batch_id: int) -> Listing:
        """Yield the users with whom a batch is shared, in the order of their numbers."""
        return self._list(f"/v1/batches/{batch_id}/permissions", {})

    async def share_batch(self, batch_id: int, user: str, permission: str) -> Document:
        """Let a user `read`, `execute`, `write` or do `all` to a batch. Raise `UserNotFound`."""
        return await self._put(_permission_path(batch_id, user), {"permission": permission})

    async def unshare_batch(self, batch_id: int, user: str) -> Document:
        """Share a batch with a user no longer. Raise `UserNotFound`."""
        return await self._delete(_permission_path(batch_id, user))

    def list_job_permissions(self, batch_id: int, job_id: int) -> Listing:
        """Yield the users with whom one job is shared, in the order of their numbers."""
        return self._list(f"/v1/batches/{batch_id}/jobs/{job_id}/permissions", {})

    async def share_job(self, batch_id: int, job_id: int, user: str, permission: str) -> Document:
        """Let a user `read`, `execute`, `write` or do `all` to one job. Raise `UserNotFound`."""
        path = _job_permission_path(batch_id, job_id, user)
        return await self._put(path, {"permission": permission})

    async def unshare_job(self, batch_id: int, job_id: int, user: str) -> Document:
        """Share one job with a user no longer. Raise `UserNotFound`."""
        return await self._delete(_job_permission_path(batch_id, job_id, user))

    def list_shared_jobs(self) -> Listing:
        """Yield single jobs that were shared with the caller, of the newest batches first."""
        return self._list("/v1/shared-jobs", {})


def _tenant_path(name: str) -> str:
    return f"/v1/tenants/{_quoted(name, 'tenant')}"


def _user_path(name: str) -> str:
    return f"/v1/users/{_quoted(name, 'user')}"


def _project_path(name: str) -> str:
    return f"/v1/billing-projects/{_quoted(name, 'billing project')}"


def _member_path(name: str, user: str) -> str:
    return f"{_project_path(name)}/members/{_quoted(user, 'user')}"


def _permission_path(batch_id: int, user: str) -> str:
    return f"/v1/batches/{batch_id}/permissions/{_quoted(user, 'user')}"


def _job_permission_path(batch_id: int, job_id: int, user: str) -> str:
    return f"/v1/batches/{batch_id}/jobs/{job_id}/permissions/{_quoted(user, 'user')}"


def _quoted(name: str, kind: str) -> str:
    if not name:  # the address would be that of a list
        raise BadId(name, expected=f"a {kind} has a name")
    return quote(name, safe="")
