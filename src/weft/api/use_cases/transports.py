"""Transports: the connections over which queues may travel, and what nobody wanted there."""

from collections.abc import Sequence

from weft.api.services import Services
from weft.core.errors import DeadMessageFinal, DeadMessageNotFound
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.telemetry.log import get_logger
from weft.wire.documents.failures import NoteDocument

log = get_logger()


async def list_transports(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the connections of the caller's tenant by name; the store is asked only if there
    are some.
    """
    names = await services.transports_of(caller)
    if not names:
        return []
    kinds = {one.name: one.kind for one in services.transports}
    rows = await services.store.list_transports(caller, names)
    return [{**row, "kind": kinds[row["transport"]]} for row in rows]


async def get_dead_message(services: Services, caller: Caller, dead_id: int) -> Answer:
    """Return a dead message. Raise `DeadMessageNotFound`."""
    found = await services.store.get_dead_message(caller, dead_id)
    if found is None:
        raise _not_found(dead_id)
    return dict(found)


async def remove_dead_message(services: Services, caller: Caller, dead_id: int) -> Answer:
    """Forget a dead message. Raise `DeadMessageNotFound`."""
    if not await services.store.remove_dead_message(caller, dead_id):
        raise _not_found(dead_id)
    return {"dead_id": dead_id}


async def resend_dead_message(services: Services, caller: Caller, dead_id: int) -> Answer:
    """Let a dead message be sent again. Raise `DeadMessageNotFound`, `DeadMessageFinal`."""
    found = await services.store.resend_dead_message(caller, dead_id)
    if found is None:
        raise _not_found(dead_id)
    if not found["can_resend"]:
        raise DeadMessageFinal(
            f"dead message {dead_id} cannot be sent again",
            detail="Only a part of it was kept, or no queue of weft was meant.",
            hint=f"Look at it with `weft transport letters show {dead_id}`.",
        )
    return dict(found)


async def acknowledge_dead_message(
    services: Services, caller: Caller, dead_id: int, document: NoteDocument
) -> Answer:
    """Note that the caller has seen to a dead message. Raise `DeadMessageNotFound`."""
    found = await services.store.acknowledge_dead_message(caller, dead_id, document.note)
    if found is None:
        raise _not_found(dead_id)
    log.info("transport.letter_acknowledged", letter=dead_id, user=caller.user_name)
    return dict(found)


def _not_found(dead_id: int) -> DeadMessageNotFound:
    return DeadMessageNotFound(
        f"dead message {dead_id} does not exist",
        detail="It was sent again, removed, or is older than what is kept.",
        hint="List them with `weft transport letters ls`.",
    )
