"""The trail of a tenant, for who manages it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from weft.api.calls.call import Cursor, Word, call
from weft.api.calls.visits import require_reading
from weft.api.services import Services
from weft.core.access.rights import Right, require
from weft.core.ids import parse_batch_id
from weft.ports.store import Caller, Row, TrailQuery
from weft.wire.answers.trail import TrailEntry


@call("GET /v1/trail", Right.MANAGE, page=TrailEntry, cursor=Cursor("a", "number"))
async def list_trail(
    services: Services,
    caller: Caller,
    *,
    before: int | None,
    limit: int,
    user: str | None,
    action: str | None,
    batch: Annotated[int | None, Word("batch", parse_batch_id)],
    number: int | None,
    since: Annotated[datetime | None, Word("from")],
    all_tenants: bool,
) -> Sequence[Row]:
    """List changes and refusals until a second ago, newest first. Raise `RightMissing`."""
    if all_tenants:
        if caller.visit is not None:
            require_reading(caller.visit, Right.ADMINISTER, "GET", {})
        require(Right.ADMINISTER, caller.user_name, caller.role, caller.scopes)
    query = TrailQuery(user=user, action=action, batch_id=batch, number=number, since=since)
    return await services.store.list_trail(
        caller, query, before=before, limit=limit, all_tenants=all_tenants
    )
