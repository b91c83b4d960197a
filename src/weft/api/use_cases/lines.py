"""Setups, their lifecycles, and the statuses of jobs."""

from weft.api.services import Services
from weft.core.lines.setup import parse_setup
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.telemetry.log import get_logger
from weft.wire.line_documents import StatusDocument

log = get_logger()


async def save_setup(services: Services, caller: Caller, name: str, text: str) -> Answer:
    """Check a setup and save it whole. Raise `InvalidSetup`, `LifecycleTaken`."""
    setup = parse_setup(text)
    changed = await services.store.save_setup(caller, name, text, setup.lifecycles)
    log.info("setup.saved", setup=name, changed=list(changed), user=caller.user_name)
    return {"setup": name, "changed": list(changed)}


async def remove_setup(services: Services, caller: Caller, name: str) -> Answer:
    """Forget a setup; jobs keep their lifecycles. Raise `SetupNotFound`."""
    await services.store.remove_setup(caller, name)
    log.info("setup.removed", setup=name, user=caller.user_name)
    return {"setup": name}


async def change_status(
    services: Services, caller: Caller, batch_id: int, job_id: int, document: StatusDocument
) -> Answer:
    """Set the status of a job; return it."""
    row = await services.store.change_status(
        caller, batch_id, job_id, status=document.status, message=document.message
    )
    return {**row}
