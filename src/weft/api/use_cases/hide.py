"""Hide a batch from lists, or show it again."""

from weft.api.calls.call import call
from weft.api.calls.path_ids import BatchId
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.answers.batches import HiddenChanged


@call("POST /v1/batches/{b}/hide", Right.WRITE, HiddenChanged, public=False)
async def hide_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Hide a batch: lists of batches leave it out unless they ask for hidden ones. Its jobs go on,
    and whoever names it finds it.
    """
    return await _set_hidden(services, caller, batch_id, hidden=True)


@call("POST /v1/batches/{b}/unhide", Right.WRITE, HiddenChanged, public=False)
async def unhide_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Show a hidden batch in lists again."""
    return await _set_hidden(services, caller, batch_id, hidden=False)


async def _set_hidden(
    services: Services, caller: Caller, batch_id: int, *, hidden: bool
) -> Answer:
    """Hide a batch, or show it again; return whether it is and was hidden."""
    is_new = await services.store.hide_batch(caller, batch_id, hidden=hidden)
    return {"batch_id": batch_id, "hidden": hidden, "was_hidden": hidden != is_new}
