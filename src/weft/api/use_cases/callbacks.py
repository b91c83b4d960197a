"""The secret that signs callbacks."""

from collections.abc import Sequence
from typing import Final

from weft.api.calls.call import Cursor, call
from weft.api.calls.path_ids import BatchId, DeliveryId
from weft.api.services import Services
from weft.core.access.rights import Permission, Right
from weft.core.deliveries.callback_signature import tenant_secret
from weft.core.errors import NoCallbackKey
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.wire.answers.callbacks import CallbackSecret, Delivery

_CALLBACKS: Final = "/v1/batches/{b}/callbacks"


@call(
    f"GET {_CALLBACKS}", Right.READ, page=Delivery, cursor=Cursor("c", "delivery_id"), public=False
)
async def list_callbacks(
    services: Services, caller: Caller, batch_id: BatchId, *, after: int, limit: int
) -> Sequence[Row]:
    """Return the callbacks of a batch and its groups in the order of the completions, each with
    the state of its delivery.
    """
    return await services.store.list_callbacks(caller, batch_id, after=after, limit=limit)


@call(
    f"POST {_CALLBACKS}/{{d}}/redeliver",
    Right.WRITE,
    Delivery,
    permission=Permission.EXECUTE,
    client="",
)
async def redeliver_callback(
    services: Services, caller: Caller, batch_id: BatchId, delivery: DeliveryId
) -> Row:
    """Try to deliver a callback again now, also one that was given up. A repeat does nothing while
    the delivery is under way.
    """
    return await services.store.redeliver_callback(caller, batch_id, delivery)


@call(
    "GET /v1/callbacks/secret",
    Right.MANAGE,
    CallbackSecret,
    client="",
    marks={"refuses": (409,), "visit": False},
)
async def callback_secret(services: Services, caller: Caller) -> Answer:
    """Return the secret that signs the callbacks of the caller's tenant."""
    return {"secret": get_secret(services, caller)}


def get_secret(services: Services, caller: Caller) -> str:
    """Return the secret of the caller's tenant. Raise `NoCallbackKey`."""
    if services.callback_key is None:
        raise NoCallbackKey(
            "this server has no secret for callbacks",
            detail="Its home has no callback.json.",
            hint="Ask the server that `weft up` started, or copy that file from its home.",
        )
    return tenant_secret(services.callback_key, caller.tenant_id)
