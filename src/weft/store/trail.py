"""The part of `ApiStore` for the trail."""

from collections.abc import Sequence

from weft.ports.store import (
    ACTION,
    Action,
    Caller,
    FailedLogin,
    LoginOwner,
    Row,
    TrailQuery,
)
from weft.store.database import Database


class Trail:
    """The api's calls about the trail. The methods are documented at the port."""

    _database: Database

    async def record_refusal(self, action: Action) -> None:
        """Add a refused request."""
        ACTION.set(None)  # what was refused is over
        await self._database.call("record_request", request=action.row(), n_rows=None)

    async def login_owner(self, digest: bytes) -> LoginOwner | None:
        """Return whose it is."""
        rows = await self._database.call("login_owner", of_hash=digest)
        return LoginOwner(**rows[0]) if rows else None

    async def record_failed_login(self, failed: FailedLogin) -> None:
        """Add a login that failed."""
        ACTION.set(None)  # a pipelined request has no other
        await self._database.call("record_request", request=failed.row(), n_rows=None)

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
