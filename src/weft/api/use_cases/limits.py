"""Limits of what projects, users, batches and groups use."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import msgspec

from weft.api.services import Services
from weft.core.billing.spending import Measure
from weft.core.errors import FieldError, SoftLimitAboveLimit
from weft.ports.store import Caller
from weft.ports.store.spending import Limited
from weft.submission.services import Answer
from weft.telemetry.log import get_logger
from weft.wire.documents.limits import LimitEdit

log = get_logger()


async def set_limit(services: Services, caller: Caller, of: Limited, edit: LimitEdit) -> Answer:
    """Change a limit; return it. Raise `ProjectNotFound`, `UserNotFound`, `BatchNotFound`,
    `GroupNotFound`, `SoftLimitAboveLimit`.
    """
    patch = msgspec.to_builtins(edit)
    measure = Measure(patch.pop("measure"))
    with pointing_to_limits(patch, "amount_max", "amount_soft_max"):
        found = await services.store.set_limit(caller, of, measure, patch)
    log.info(
        "limit.set",
        kind=found["kind"],
        name=found["project"] or found["user"] or f"b{found['batch_id']}",
        measure=found["measure"],
        amount_max=found["amount_max"],
        amount_soft_max=found["amount_soft_max"],
        by=caller.user_name,
    )
    return dict(found)


@contextmanager
def pointing_to_limits(given: Collection[str], limit: str, soft_limit: str) -> Iterator[None]:
    """Add a pointer to `SoftLimitAboveLimit`: the other field may have been set before."""
    try:
        yield
    except SoftLimitAboveLimit as error:
        before = "" if {limit, soft_limit} <= set(given) else " that was set before"
        if soft_limit in given:
            one = FieldError(f"/{soft_limit}", f"it is above the limit{before}")
        else:
            one = FieldError(f"/{limit}", f"it is below the soft limit{before}")
        error.errors = (one,)
        raise
