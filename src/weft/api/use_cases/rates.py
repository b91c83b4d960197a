"""The prices of resources."""

from collections.abc import Sequence

from weft.api.calls.call import call
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.ports.store import Caller, Row
from weft.wire.answers.billing import RateCard


@call("GET /v1/rates", Right.READ, page=RateCard, public=False)
async def list_rates(services: Services, caller: Caller) -> Sequence[Row]:
    """Return all prices, newest first. An attempt keeps the prices at its claim."""
    return await services.store.list_rates(caller)
