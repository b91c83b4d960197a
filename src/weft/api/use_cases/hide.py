"""Hide a batch from lists, or show it again."""

from weft.api.services import Services
from weft.ports.store import Caller
from weft.submission.services import Answer


async def hide_batch(services: Services, caller: Caller, batch_id: int, *, hidden: bool) -> Answer:
    """Hide a batch, or show it again; return whether it is and was hidden."""
    is_new = await services.store.hide_batch(caller, batch_id, hidden=hidden)
    return {"batch_id": batch_id, "hidden": hidden, "was_hidden": hidden != is_new}
