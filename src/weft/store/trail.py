"""The part of `ApiStore` for the trail."""

from collections.abc import Sequence

from weft.ports.store import ACTION, Action, Caller, Row, TrailQuery
from weft.store.database import Database


class Trail:
    """The api's calls about the trail. The methods are documented at the port."""

    _database: Database

    async def record_refusal(self, action: Action) -> None:
        """Add a refused request."""
        ACTION.set(None)  # what was refused is over
        await self._database.call("record_request", request=action.row(), n_rows=None)

    async def list_trail(
        self,
        caller: Caller,
        query: TrailQuery,
        *,
        before: int | None,
        limit: int,
        all_tenants: bool = False,
    ) -> Sequence[Row]:
        """Return sealed entries."""
        whose = {} if all_tenants else {"tenant_id": caller.tenant_id}
        rows = await self._database.call(
            "list_whole_trail" if all_tenants else "list_trail",
            **whose,
            of_user=query.user,
            of_action=query.action,
            of_batch_id=query.batch_id,
            of_number=query.number,
            since=query.since,
            before=before,
            limit_rows=limit,
        )
        return [row[0] for row in rows]
