"""Waiting for a machine that a cluster makes."""

import asyncio
from collections.abc import Awaitable, Callable

from weft.ports.provider import FoundMachine, ProviderError


async def until_begun(
    describe: Callable[[], Awaitable[FoundMachine | None]],
    is_known: Callable[[FoundMachine], bool],
    within_s: float,
    look_s: float,
    gone: str,
) -> FoundMachine:
    """Return a machine once its worker runs, what it waits for is known, or after a while. Raise
    `ProviderError` if it cannot begin, or was removed meanwhile: `gone` says so.
    """
    until = asyncio.get_running_loop().time() + within_s
    while True:
        found = await describe()
        if found is None:
            raise ProviderError(f"{gone} while it was being made")
        if found.error:
            raise ProviderError(found.error)
        if is_known(found) or asyncio.get_running_loop().time() > until:
            return found
        await asyncio.sleep(look_s)
