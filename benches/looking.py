"""Looking at a batch until something is so."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from weft.client.api import Api

LOOK_S = 0.02


async def until(
    client: Api, batch_id: int, is_so: Callable[[Mapping[str, Any]], bool]
) -> Mapping[str, Any]:
    """Return the first document of the batch of which it is so."""
    while True:
        batch = await client.get_batch(batch_id)
        if is_so(batch):
            return batch
        await asyncio.sleep(LOOK_S)
