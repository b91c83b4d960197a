"""How many calls of one user run at a time: further ones wait in their order, so that one who
sends much waits for himself.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from weft.core.errors import TooManyAtOnce
from weft.ports.store import Caller
from weft.telemetry.metrics import CALLS_WAITED

WAIT_S: Final = 5.0
"""A call waits this long for others of its user, as it would for any connection."""
User = tuple[int, int]
"""Tenant and user."""


def user_of(caller: Caller | None) -> User | None:
    """Return whose call it is, on a visit as at home; None: the program's own."""
    if caller is None or not caller.in_turn:
        return None
    home_id = caller.tenant_id if caller.visit is None else caller.visit.home_id
    return home_id, caller.user_id


class Turns:
    """Turns for each user: `most` at a time, or any number if that is None."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        # A semaphore lives as long as a call holds it.
        self._by_user: WeakValueDictionary[User, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, user: User | None) -> AsyncIterator[None]:
        """Take a turn of this user. Raise `TooManyAtOnce` if none becomes free in time."""
        if self._most is None or user is None:
            yield
            return
        turns = self._by_user.get(user)
        if turns is None:
            turns = self._by_user[user] = asyncio.Semaphore(self._most)
        if turns.locked():
            await self._wait(turns)
        else:
            await turns.acquire()
        try:
            yield
        finally:
            turns.release()

    async def _wait(self, turns: asyncio.Semaphore) -> None:
        CALLS_WAITED.inc()
        try:
            async with asyncio.timeout(WAIT_S):
                await turns.acquire()
        except TimeoutError as error:
            raise TooManyAtOnce(
                "you have too many requests under way",
                detail=f"{self._most} of them may be at the database at a time, and none has "
                f"ended for {WAIT_S:g} s.",
                hint="Send fewer at a time, and many jobs in one request.",
            ) from error
