"""Tell somebody outside what happens, until cancelled: what the loops that do so share."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from weft.core.backoff import backoff_s
from weft.driver.loops.loop import LoopContext
from weft.ports.transport import TransportError
from weft.telemetry.log import get_logger

log = get_logger()

BEHIND_S: Final = 0.1
"""When it is looked again, if older writers have not committed."""
_RETRY_FIRST_S: Final = 0.2
_RETRY_LONGEST_S: Final = 5.0


async def tell_always(
    context: LoopContext, name: str, tell: Callable[[], Awaitable[bool]]
) -> None:
    """Tell what there is, whenever there may be something. `name`: of the connection; `tell`
    returns whether there is more, and raises `TransportError`. Never returns.
    """
    failures = 0
    while True:
        try:
            is_behind = await tell()
        except TransportError as error:
            failures += 1
            if failures == 1:
                log.warning("transport.away", transport=name, error=str(error))
            await asyncio.sleep(
                backoff_s(failures, first_s=_RETRY_FIRST_S, longest_s=_RETRY_LONGEST_S, jitter=1.0)
            )
            continue
        if failures:
            log.info("transport.back", transport=name)
        failures = 0
        if is_behind:
            await asyncio.sleep(BEHIND_S)
        else:
            await context.bell.heard(context.settings.heartbeat_s)
