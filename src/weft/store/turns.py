"""Whose calls have the connections: one user has some of them at a time, and while all are taken,
the next that is free goes to the tenant that has the fewest. So those who send much wait for
themselves, and many users of one tenant do for each other.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from weft.core.errors import TooManyAtOnce
from weft.ports.store import Caller
from weft.telemetry.metrics import CALLS_WAITED

WAIT_S: Final = 5.0
"""A call waits this long for its turn, as it would for any connection."""
User = tuple[int, int]
"""Tenant and user."""


def user_of(caller: Caller | None) -> User | None:
    """Return whose call it is, on a visit as at home; None: the program's own."""
    if caller is None or not caller.in_turn:
        return None
    home_id = caller.tenant_id if caller.visit is None else caller.visit.home_id
    return home_id, caller.user_id


class Turns:
    """Turns for calls of users: `total` at a time, of which one user has `most`. None: any number,
    and nobody waits here. `others_s`: how long a call waits for those of others; None: for ever.
    """

    def __init__(self, most: int | None, total: int, *, others_s: float | None = WAIT_S) -> None:
        self._most = most
        self._others_s = others_s
        self._free = total
        self._of_user: Counter[User] = Counter()
        self._of_tenant: Counter[int] = Counter()
        self._waiting: dict[User, deque[asyncio.Future[None]]] = {}
        """Those that have waited longest come first, as users and of each user."""

    @asynccontextmanager
    async def of(self, user: User | None) -> AsyncIterator[None]:
        """Take a turn of this user. Raise `TooManyAtOnce` if they have all that they may and none
        becomes free in time; `TimeoutError` if others have all.
        """
        if self._most is None or user is None:
            yield
            return
        if self._free and self._of_user[user] < self._most:  # then nobody waits who could go on
            self._count(user, 1)
        else:
            await self._wait(user, self._most)
        try:
            yield
        finally:
            self._end(user)

    async def _wait(self, user: User, most: int) -> None:
        if is_own := self._of_user[user] >= most:
            CALLS_WAITED.inc()
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        try:
            async with asyncio.timeout(WAIT_S if is_own else self._others_s):
                await turn
        except TimeoutError as error:
            self._leave(user, turn)
            if not is_own:
                raise
            raise TooManyAtOnce(
                "you have too many requests under way",
                detail=f"{most} of them may be at the database at a time, and none has "
                f"ended for {WAIT_S:g} s.",
                hint="Send fewer at a time, and many jobs in one request.",
            ) from error
        except asyncio.CancelledError:
            self._leave(user, turn)
            raise

    def _leave(self, user: User, turn: asyncio.Future[None]) -> None:
        """Wait no more; give back a turn that has come just now."""
        if turn.done() and not turn.cancelled():
            self._end(user)
            return
        with suppress(KeyError, ValueError):
            self._waiting[user].remove(turn)
            if not self._waiting[user]:
                del self._waiting[user]

    def _end(self, user: User) -> None:
        self._count(user, -1)
        while self._free and (found := self._next()) is not None:
            queue = self._waiting.pop(found)
            turn = queue.popleft()
            if queue:
                self._waiting[found] = queue  # behind the others
            if not turn.done():  # else it was cancelled, and is about to leave
                self._count(found, 1)
                turn.set_result(None)

    def _next(self) -> User | None:
        """Return the user whose call goes on next; None: all who wait have what they may."""
        return min(
            (user for user in self._waiting if self._of_user[user] < (self._most or 0)),
            key=lambda user: (self._of_tenant[user[0]], self._of_user[user]),
            default=None,
        )

    def _count(self, user: User, more: int) -> None:
        self._free -= more
        self._of_user[user] += more
        self._of_tenant[user[0]] += more
        if not self._of_user[user]:
            del self._of_user[user]
        if not self._of_tenant[user[0]]:
            del self._of_tenant[user[0]]
