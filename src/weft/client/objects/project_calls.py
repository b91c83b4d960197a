"""The client's call about limits of billing projects."""

from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, UnsetType

from weft.client.api import Api
from weft.client.http.listing import Document


class ProjectCalls:
    """Limits of billing projects, for administrators of the tenant."""

    if TYPE_CHECKING:
        api: Api

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
        changes = {key: value for key, value in given.items() if value is not UNSET}
        return await self.api.change_project(name, changes)
