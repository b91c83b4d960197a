"""The routes of what pictures of batches show."""

from typing import Literal

from weft.client.http.calls import DocumentCalls
from weft.client.http.listing import Document


class PictureRoutes(DocumentCalls):
    """Dependencies of a batch."""

    async def get_graph(
        self,
        batch_id: int,
        *,
        group: int | str | None = None,
        level: Literal["groups", "jobs"] | None = None,
        apart: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Document:
        """Return the dependencies between the groups directly below a group, or between its jobs:
        `nodes` and `edges`. `group`: None: the batch; `level`: None: groups if there are some;
        `apart`: jobs with the same parents and the same children are nodes of their own, too;
        `cursor`: of the page before.
        """
        query = {"group": group, "level": level, "apart": apart or None, "limit": limit}
        return await self._get(f"/v1/batches/{batch_id}/graph", {**query, "cursor": cursor})
