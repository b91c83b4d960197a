"""What jobs wait for together: list and show it, test it now, release or fail its jobs."""

from typing import Final

from weft.api.services import Services
from weft.ports.store import Caller, Row
from weft.telemetry.log import get_logger

log = get_logger()

JOBS_SHOWN: Final = 10


async def get_condition(services: Services, caller: Caller, condition_id: int) -> Row:
    """Return a condition with its first jobs. Raise `ConditionNotFound`."""
    return await services.store.get_condition(caller, condition_id, limit_jobs=JOBS_SHOWN)


async def test_condition(services: Services, caller: Caller, condition_id: int) -> Row:
    """Test it now, instead of at its next date; return it as it is before that."""
    await services.store.test_condition(caller, condition_id)
    _tell(caller, condition_id, "test")
    return await get_condition(services, caller, condition_id)


async def release_condition(services: Services, caller: Caller, condition_id: int, n: int) -> Row:
    """Let jobs go on without a test."""
    await services.store.release_condition(caller, condition_id, n)
    _tell(caller, condition_id, f"release {n}")
    return await get_condition(services, caller, condition_id)


async def fail_condition(services: Services, caller: Caller, condition_id: int) -> Row:
    """End its jobs as errors."""
    await services.store.fail_condition(caller, condition_id)
    _tell(caller, condition_id, "fail")
    return await get_condition(services, caller, condition_id)


def _tell(caller: Caller, condition_id: int, change: str) -> None:
    log.info("condition.changed", condition=condition_id, user=caller.user_name, change=change)
