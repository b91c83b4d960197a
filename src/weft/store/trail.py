"""The trail of what users have changed, in the stores of the api and the driver."""

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
from weft.store.database import (
    StorePart,
)
from weft.store.declared import (
    calls,
    number,
)


class Trail(StorePart):
    """What the api writes into the trail and shows of it, as the driver has sealed it."""

    async def record_request(self, action: Action) -> None:
        """Add a request to the trail that was refused, or acts outside the database."""
        ACTION.set(None)  # it has its entry
        await self._database.call("record_request", request=action.row(), n_rows=None)

    @calls(lambda rows: LoginOwner(**rows[0]) if rows else None, digest="of_hash")
    async def login_owner(self, digest: bytes) -> LoginOwner | None:
        """Return whose token, session or login code has this SHA-256, also if it has expired,
        and whether it has; None: nobody's.
        """

    async def record_failed_login(self, failed: FailedLogin) -> None:
        """Add a login that failed to the trail: of its tenant, or of none."""
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
        """Return sealed entries of the tenant, or of all, newest first: `number, at, tenant, user,
        token_id, address, trace_id, action, path, batch_id, refused, times, sealed_at, digest`.
        """
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


class TrailEnds(StorePart):
    """What the driver removes from the trail."""

    @calls(number, limit="limit_rows")
    async def trim_trail(self, epoch: int, *, keep_s: float, limit: int) -> int:
        """Remove the oldest entries of the trail that were sealed so long ago, and at least a day;
        return how many; 0: nothing is left. What remains is still a chain.
        """
