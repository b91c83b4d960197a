"""Transports: the connections over which queues may travel, and what nobody wanted there."""

from collections.abc import Sequence

from weft.api.calls.call import Cursor, call
from weft.api.calls.path_ids import DeadMessageId
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.errors import DeadMessageFinal, DeadMessageNotFound
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.answers.transports import (
    DeadMessage,
    DeadMessageRemoved,
    Transport,
    WholeDeadMessage,
)
from weft.wire.documents.failures import NoteDocument


@call("GET /v1/transports", Right.READ, page=Transport)
async def list_transports(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the connections of the tenant by name, and what is under way over each."""
    names = await services.transports_of(caller)
    if not names:  # the store is not asked
        return []
    kinds = {transport.name: transport.kind for transport in services.transports}
    rows = await services.store.list_transports(caller, names)
    return [{**row, "kind": kinds[row["transport"]]} for row in rows]


@call("GET /v1/dead-messages", Right.OPERATE, page=DeadMessage, cursor=Cursor("dm", "dead_id"))
async def list_dead_messages(
    services: Services, caller: Caller, *, acknowledged: bool, before: int | None, limit: int
) -> Sequence[Row]:
    """Return the messages of transports that nobody wants, the newest first. `acknowledged`:
    those that a person has acknowledged, instead of the others. Only for operators.
    """
    return await services.store.list_dead_messages(
        caller, before=before, acknowledged=acknowledged, limit=limit
    )


@call("GET /v1/dead-messages/{dead}", Right.OPERATE, WholeDeadMessage)
async def get_dead_message(services: Services, caller: Caller, dead_id: DeadMessageId) -> Answer:
    """Return a dead message with what is kept of its `body`, in base64. Only for operators. Raise
    `DeadMessageNotFound`.
    """
    dead_message = await services.store.get_dead_message(caller, dead_id)
    if dead_message is None:
        raise _not_found(dead_id)
    return dict(dead_message)


@call("DELETE /v1/dead-messages/{dead}", Right.OPERATE, DeadMessageRemoved, silent=True)
async def remove_dead_message(
    services: Services, caller: Caller, dead_id: DeadMessageId
) -> Answer:
    """Forget a dead message. Only for operators. Raise `DeadMessageNotFound`."""
    if not await services.store.remove_dead_message(caller, dead_id):
        raise _not_found(dead_id)
    return {"dead_id": dead_id}


@call(
    "POST /v1/dead-messages/{dead}/resend", Right.OPERATE, DeadMessage, marks={"refuses": (409,)}
)
async def resend_dead_message(
    services: Services, caller: Caller, dead_id: DeadMessageId
) -> Answer:
    """Put a dead message into its queue again; the driver does, and forgets it then. Only for
    operators. Raise `DeadMessageNotFound`, `DeadMessageFinal`.
    """
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


@call("POST /v1/dead-messages/{dead}/acknowledge", Right.OPERATE, DeadMessage)
async def acknowledge_dead_message(
    services: Services, caller: Caller, dead_id: DeadMessageId, document: NoteDocument
) -> Answer:
    """Acknowledge a dead message: it leaves the list, with a note. Only for operators. Raise
    `DeadMessageNotFound`.
    """
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
