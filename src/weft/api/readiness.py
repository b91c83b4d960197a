"""Whether the database answers, told within a time that whoever asks for it bears."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from weft.core.errors import StoreUnavailable

ANSWER_S: Final = 1.5
"""Balancers and orchestrators give a look at health about as long."""


class Readiness:
    """Asks the database for all who want to know: however many do, and however long it stands
    still, one question is open.
    """

    def __init__(self, ask: Callable[[], Awaitable[None]]) -> None:
        self._ask = ask
        self._asking: asyncio.Task[None] | None = None

    async def check(self) -> None:
        """Return if the database answers in time; otherwise raise `Unavailable`."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._answered())
            self._asking.add_done_callback(_note_failure)
        # It is not cancelled: on a server that stands still, that would wait for the server.
        await asyncio.wait([self._asking], timeout=ANSWER_S)
        if not self._asking.done():
            raise StoreUnavailable(
                "the database does not answer",
                detail=f"It was given {ANSWER_S:g} s.",
                hint="It is asked again at each look; if that does not help, run `weft doctor` "
                "and read the server's log.",
            )
        self._asking.result()

    async def _answered(self) -> None:
        await self._ask()

    def stop(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()


def _note_failure(asked: asyncio.Task[None]) -> None:
    """Let nobody be told of a failure for which nobody waited."""
    if not asked.cancelled():
        asked.exception()
