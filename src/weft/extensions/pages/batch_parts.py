"""What the page of a batch shows beside its jobs: its pace, what it cost where, its callbacks, and
the columns of its jobs.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from weft.api.http.parameters import Query, wrong_parameter
from weft.api.services import Services
from weft.api.use_cases import read
from weft.core.pace import pace_of
from weft.ports.store import Caller, Row

GROUPS: Final = 20
CALLBACKS: Final = 20
ROOT_GROUP: Final = 0
COLUMNS: Final = {
    "name": "Name", "state": "State", "reason": "Reason", "attempt": "Attempt",
    "duration": "Took", "started": "Started", "ended": "Ended", "ready": "Ready since",
    "user": "User", "queue": "Queue", "priority": "Priority", "cost": "Cost", "group": "Group",
    "message": "What it said", "attributes": "Attributes",
}  # fmt: skip
"""Columns of the table of jobs, with their titles."""
FORESEEN_MS: Final = 100 * 365 * 86_400_000
"""An end that is further away is no forecast, and may be past the last date there is."""
USUAL: Final = ("name", "state", "reason", "attempt", "duration", "started", "ended")
NUMBERS: Final = frozenset({"attempt", "duration", "priority", "cost", "group"})
"""Columns that stand at the right."""


def columns_of(query: Query) -> Sequence[str]:
    """Return the columns that the reader chose, in the order of the table. Raise
    `InvalidParameter`.
    """
    chosen = query.many("column") or USUAL
    for one in chosen:
        if one not in COLUMNS:
            known = ", ".join(COLUMNS)
            raise wrong_parameter("column", f"{one[:40]!r} is not one of {known}")
    return [column for column in COLUMNS if column in chosen]


async def parts_of(
    services: Services, caller: Caller, batch: Row, *, groups_after: int
) -> Mapping[str, Any]:
    """Return what the page shows of a batch beside its jobs. `groups_after`: the number after
    which the costs of groups begin; which of all groups are the dearest no index knows.
    """
    batch_id = int(batch["id"])
    pace = pace_of(batch)
    end_at = None
    if pace is not None and pace.left_ms is not None and pace.left_ms <= FORESEEN_MS:
        end_at = datetime.now(UTC) + timedelta(milliseconds=pace.left_ms)
    groups = await read.list_child_groups(
        services, caller, batch_id, ROOT_GROUP, after=groups_after, limit=GROUPS + 1
    )
    shown = groups[:GROUPS]
    callbacks = await services.store.list_callbacks(caller, batch_id, after=0, limit=CALLBACKS)
    return {
        "pace": pace,
        "end_at": end_at,
        "groups": shown,
        "groups_after": groups_after,
        "next_groups": shown[-1]["group_id"] if len(groups) > len(shown) else None,
        "callbacks": callbacks,
        "columns": COLUMNS,
        "numbers": NUMBERS,
    }
