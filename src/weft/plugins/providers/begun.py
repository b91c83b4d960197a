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
        machine = await describe()
        if machine is None:
            raise ProviderError(f"{gone} while it was being made")
        if machine.error:
            raise ProviderError(machine.error)
        if is_known(machine) or asyncio.get_running_loop().time() > until:
            return machine
        await asyncio.sleep(look_s)
