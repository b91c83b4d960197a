"""The client's calls that change billing projects and tenants."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, UnsetType

from weft.client.api import Api
from weft.client.http.calls import without_none, without_unset
from weft.client.http.listing import Document


class TenantCalls:
    """Changes for administrators of the tenant, or of the site."""

    if TYPE_CHECKING:
        api: Api

    async def set_tenant(
        self,
        name: str,
        *,
        on_user_removal: Literal["finish", "cancel"] | None = None,
        allowed: Mapping[str, Sequence[str] | None] | None = None,
        output_keep_s: int | None = None,
        output_keep_bytes: int | None = None,
    ) -> Document:
        """Change what holds in a tenant, and return it. Raise `RightMissing`, `TenantNotFound`.

        Args:
            name: Name of the tenant.
            on_user_removal: Whether batches of users who are removed go on to their end or are
                cancelled, where `remove_user` does not say it.
            allowed: What its jobs may choose, `{"image": ["docker://registry.example/*"],
                "partition": ["long"]}`; None for a kind: whatever workers and gateways allow.
            output_keep_s: Seconds after the end of a batch for which its output and files are
                kept; 0: as long as the batch.
            output_keep_bytes: What the tenant may store before the oldest output and files are
                removed; 0: any number of bytes.
        """
        changes = {
            "on_user_removal": on_user_removal, "allowed": allowed, "output_keep_s": output_keep_s,
            "output_keep_bytes": output_keep_bytes,
        }  # fmt: skip
        return await self.api.set_tenant(name, without_none(changes))

    async def limit_project(
        self,
        name: str,
        cost_max: float | UnsetType | None = UNSET,
        *,
        cost_soft_max: float | UnsetType | None = UNSET,
        on_limit: Literal["pause", "cancel"] | UnsetType = UNSET,
    ) -> Document:
        """Set what a billing project may cost, from where on its jobs weigh half, and whether its
        batches are paused or cancelled at the limit; None: no limit. Return it. Raise
        `RightMissing`, `ProjectNotFound`, `SoftLimitAboveLimit`.
        """
        given = {"cost_max": cost_max, "cost_soft_max": cost_soft_max, "on_limit": on_limit}
        return await self.api.change_project(name, without_unset(given))

    async def close_project(self, name: str) -> Document:
        """Let a billing project take no new batches and schedules; return it. Raise
        `RightMissing`, `ProjectNotFound`.
        """
        return await self.api.change_project(name, {"closed": True})

    async def reopen_project(self, name: str) -> Document:
        """Let a closed billing project take new batches again; return it. Raise `RightMissing`,
        `ProjectNotFound`.
        """
        return await self.api.change_project(name, {"closed": False})
