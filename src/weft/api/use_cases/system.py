"""The whole site, for those who administer it: what runs, on what, whether it is well; and the
trail of a tenant: who changed what, when and from where.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Final

from weft import __version__
from weft.api.calls.call import Cursor, Word, call
from weft.api.calls.visits import require_reading
from weft.api.services import Services
from weft.core.access.rights import Right, require
from weft.core.findings import judge
from weft.core.ids import parse_batch_id
from weft.ports.store import Caller, Row, TrailQuery
from weft.settings import Settings, all_declared, shown_value, values_of
from weft.settings.jobs_apart import find_apart
from weft.submission.services import Answer
from weft.wire.answers.system import System
from weft.wire.answers.trail import TrailEntry

ROWS_MAX: Final = 50


@call("GET /v1/system", Right.ADMINISTER, System)
async def get_system(services: Services, _: Caller) -> Answer:
    """Return the processes that are connected, the database, what the last audit has found, the
    settings in force, and what of all this is not as it should be: `health, processes, programs,
    database, audit, settings`. Only for administrators of the site. Raise `RightMissing`.
    """
    found = dict(await services.store.get_system(limit=ROWS_MAX))
    health = judge(found)
    handed_over = found.pop("driver_settings")
    apart = find_apart(services.settings, found.pop("n_submitters"))
    return {
        **found,
        "version": __version__,
        "health": [asdict(finding) for finding in [*health, apart]],
        "settings": list(_parameters(services.settings, handed_over)),
    }


def _parameters(settings: Settings, handed_over: Mapping[str, Any]) -> Iterator[Answer]:
    values = values_of(settings)
    for name, declared in all_declared().items():
        value = shown_value(declared, values[name])
        followed = shown_value(declared, handed_over.get(name, values[name]))
        yield {
            "name": name,
            "value": value,
            "is_default": values[name] == declared.default,
            "driver_value": None if followed == value else followed,
            "help": declared.help,
        }


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
