"""The streams that an api answers with."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from weft.core.errors import WeftError
from weft.ports.patience import until_answered, wait_at_most
from weft.ports.store import Caller
from weft.telemetry.log import log

ASKED_AT_ONCE: Final = 8
"""A notice about all of them asks the database no more at a time."""
UNANSWERED_S: Final = 5.0
"""A stream ends if the database does not say for so long whether it may go on."""
AGAIN_S: Final = 0.2
"""Between two questions: the clock of the database may be behind when a token expires."""
FORGOTTEN_MAX: Final = 1000
FORGOTTEN_S: Final = 600.0
"""A request that begins a stream does not last so long before."""

AskAgain = Callable[[], Awaitable[Caller]]
"""Asks for a stream once more, as its request did; returns who asks, or raises what refuses it."""


@dataclass(eq=False)
class _Open:
    caller: Caller
    is_told: asyncio.Event = field(default_factory=asyncio.Event)


class OpenStreams:
    """Knows all of them, and is told the notices about callers."""

    def __init__(self) -> None:
        self._open: set[_Open] = set()
        self._told_at: dict[int | None, float] = {}
        self._turns = asyncio.Semaphore(ASKED_AT_ONCE)

    def forget(self, told: int | None) -> None:
        """Doubt the streams of callers about whom a notice is (`Caller.is_meant`); None: all."""
        now = time.monotonic()
        self._told_at[told] = now
        for one in self._open:
            if told is None or one.caller.is_meant(told):
                one.is_told.set()
        if len(self._told_at) > FORGOTTEN_MAX:
            self._told_at = {
                one: at for one, at in self._told_at.items() if now - at < FORGOTTEN_S
            }

    async def until_lost(self, caller: Caller, ask_again: AskAgain | None) -> None:
        """Return when the caller may have their stream no longer. It is asked for again whenever a
        notice is about them, and when their token expires; None: it ends then, as its client asks
        for another one.
        """
        one = _Open(caller)
        if self._is_forgotten(caller):
            one.is_told.set()
        self._open.add(one)
        try:
            while True:
                await wait_at_most(one.caller.lasting(), one.is_told)
                one.is_told.clear()
                if ask_again is None or (found := await self._ask(ask_again)) is None:
                    return
                one.caller = found
                await asyncio.sleep(AGAIN_S)
        finally:
            self._open.discard(one)

    async def _ask(self, ask_again: AskAgain) -> Caller | None:
        try:
            async with asyncio.timeout(UNANSWERED_S), self._turns:
                return await until_answered(ask_again)
        except WeftError as error:
            log.debug("stream.lost", code=error.code, error=error.message)
        except TimeoutError:
            log.warning("stream.lost", error="the database does not say whether it may go on")
        return None

    def _is_forgotten(self, caller: Caller) -> bool:
        """Say whether a notice came after this caller was looked up, before the stream began."""
        return any(
            at >= caller.known_at and (told is None or caller.is_meant(told))
            for told, at in self._told_at.items()
        )
