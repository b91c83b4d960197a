"""The part of `ApiStore` for the trail."""

from collections.abc import Sequence

from weft.ports.store import ACTION, Action, Caller, FailedLogin, LoginOwner, Row, TrailQuery
from weft.store.database import StorePart
from weft.store.declared import calls


class Trail(StorePart):
    """The trail of what users have changed, as the driver has sealed it."""

    async def record_refusal(self, action: Action) -> None:
        """Add a request to the trail that was refused."""
        ACTION.set(None)  # what was refused is over
        await self._database.call("record_request", request=action.row(), n_rows=None)

    @calls(lambda rows: LoginOwner(**rows[0]) if rows else None, digest="of_hash")
    async def login_owner(self, digest: bytes) -> LoginOwner | None:
        """Return whose token, session or login code has this SHA-256, also if it has expired;
        None: nobody's.
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
