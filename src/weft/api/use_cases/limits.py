"""Limits of what projects, users, batches and groups use."""

import msgspec

from weft.api.services import Answer, Services
from weft.core.spending import Measure
from weft.ports.store import Caller
from weft.ports.store.spending import Limited
from weft.telemetry.log import get_logger
from weft.wire.limit_documents import LimitEdit

log = get_logger()


async def set_limit(services: Services, caller: Caller, of: Limited, edit: LimitEdit) -> Answer:
    """Change a limit; return it. Raise `ProjectNotFound`, `UserNotFound`, `BatchNotFound`,
    `GroupNotFound`.
    """
    patch = msgspec.to_builtins(edit)
    measure = Measure(patch.pop("measure"))
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
