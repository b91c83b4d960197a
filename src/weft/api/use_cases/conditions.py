"""What jobs wait for together: list and show it, test it now, release or fail its jobs. Sources
and sinks that fail are incidents beside it.
"""

from collections.abc import Sequence
from typing import Final

from weft.api.calls.call import KEYED, Cursor, call
from weft.api.calls.path_ids import ConditionId
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.lines.line import failing
from weft.ports.store import Caller, Row
from weft.telemetry.log import log
from weft.wire.answers.conditions import Condition, ShownCondition
from weft.wire.documents.incidents import ReleaseDocument

JOBS_SHOWN: Final = 10


@call("GET /v1/conditions", Right.READ, page=Condition, cursor=Cursor("c", "condition_id"))
async def list_conditions(
    services: Services, caller: Caller, *, after: int, limit: int
) -> Sequence[Row]:
    """Yield what blocked jobs that you see wait for, the oldest first, until it is over."""
    return await services.store.list_conditions(caller, after_id=after, limit=limit)


@call("GET /v1/conditions/{c}", Right.READ, ShownCondition)
async def get_condition(services: Services, caller: Caller, condition_id: ConditionId) -> Row:
    """Return a condition and the first due jobs that you see. Raise `ConditionNotFound`."""
    return await services.store.get_condition(caller, condition_id, limit_jobs=JOBS_SHOWN)


@call("POST /v1/conditions/{c}/test", Right.WRITE, ShownCondition)
async def test_condition(services: Services, caller: Caller, condition_id: ConditionId) -> Row:
    """Let a condition be tested now, instead of at its next date; return it. If the test passes,
    its jobs go on, few at first. Raise `ConditionNotFound`.
    """
    await services.store.test_condition(caller, condition_id)
    _tell(caller, condition_id, "test")
    return await get_condition(services, caller, condition_id)


@call("POST /v1/conditions/{c}/release", Right.OPERATE, ShownCondition, marks=KEYED)
async def release_condition(
    services: Services, caller: Caller, condition_id: ConditionId, document: ReleaseDocument
) -> Row:
    """Let jobs of a condition go on without a test; return it. Only for administrators. Raise
    `ConditionNotFound`.
    """
    await services.store.release_condition(caller, condition_id, document.n)
    _tell(caller, condition_id, f"release {document.n}")
    return await get_condition(services, caller, condition_id)


@call("POST /v1/conditions/{c}/fail", Right.OPERATE, ShownCondition)
async def fail_condition(services: Services, caller: Caller, condition_id: ConditionId) -> Row:
    """End the jobs of a condition as errors; return it. Only for administrators. Raise
    `ConditionNotFound`.
    """
    await services.store.fail_condition(caller, condition_id)
    _tell(caller, condition_id, "fail")
    return await get_condition(services, caller, condition_id)


def _tell(caller: Caller, condition_id: int, change: str) -> None:
    log.info("condition.changed", condition=condition_id, user=caller.user_name, change=change)


LINES_MAX: Final = 1000
"""Sources, and sinks, that are looked at together, by name."""


async def failing_lines(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the sources that fail, and the sinks to which messages do not get."""
    return failing(await services.store.overview_lines(caller, limit=LINES_MAX, statuses=False))
