"""Transports: list the connections over which queues may travel."""

from collections.abc import Sequence

from weft.api.services import Services
from weft.ports.store import Caller, Row


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
