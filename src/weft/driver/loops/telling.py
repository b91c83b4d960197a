"""Tell somebody outside what happens, until cancelled: what the loops that do so share."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, TypeVar

from weft.core.settling import OF_THE_TERM
from weft.driver.loops.bell import Bell
from weft.driver.loops.loop import LoopContext
from weft.ports.patience import pause_after, run_beside
from weft.ports.transport import TransportError
from weft.telemetry.log import log

BEHIND_S: Final = 0.1
"""When it is looked again, if older writers have not committed."""


class _Told(Protocol):
    @property
    def name(self) -> str: ...  # of the connection


Told = TypeVar("Told", bound=_Told)


async def tell_all(
    context: LoopContext,
    everybody: Sequence[Told],
    tell: Callable[[LoopContext, Told], Awaitable[bool]],
) -> None:
    """Tell each of these what there is, whenever there may be something, so that one that is away
    holds up no other; without any, wait. `tell` returns whether there is more, and raises
    `TransportError`. Never returns: a loop that does ends the term.
    """
    bells = [Bell() for _ in everybody]

    async def ring_all() -> None:
        while True:
            await context.bell.heard()
            for bell in bells:
                bell.ring()

    each = zip(everybody, bells, strict=True)
    await run_beside(ring_all(), *(_tell_always(context, bell, one, tell) for one, bell in each))


async def _tell_always(
    context: LoopContext,
    bell: Bell,
    told: Told,
    tell: Callable[[LoopContext, Told], Awaitable[bool]],
) -> None:
    failures = 0
    while True:
        try:
            is_behind = await tell(context, told)
        except OF_THE_TERM:
            raise
        except Exception as error:
            if not isinstance(error, TransportError):
                log.exception("transport.telling_failed", transport=told.name)
            failures += 1
            if failures == 1:
                log.warning("transport.away", transport=told.name, error=str(error))
            await pause_after(failures)
            continue
        if failures:
            log.info("transport.back", transport=told.name)
        failures = 0
        if is_behind:
            await asyncio.sleep(BEHIND_S)
        else:
            await bell.heard(context.settings.heartbeat_s)
