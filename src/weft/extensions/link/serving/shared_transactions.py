"""Calls of many workers outside that come together share a transaction."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from weft.ports.worker_link import Beat, Ends
from weft.telemetry.log import log

Asked = TypeVar("Asked", bound=Beat | Ends)
Answer = TypeVar("Answer")
GATHER_S: Final = 0.005
"""A call waits this long for others. Little beside the disk, for which each of them would wait."""
TOGETHER_MAX: Final = 32
_OTHERS_S: Final = 1.0
"""Nobody waits for others when there were none for this time."""


class SharedTransactions(Generic[Asked, Answer]):
    """Gathers calls of one kind, and splits the answer. Whoever was not answered asks alone, as
    does who is the only one; so nothing that one of them sends, or waits for, fails another.
    """

    def __init__(
        self,
        ask_all: Callable[[Sequence[Asked]], Awaitable[Sequence[Answer | None]]],
        ask_alone: Callable[[Asked], Awaitable[Answer]],
    ) -> None:
        self._ask_all = ask_all
        self._ask_alone = ask_alone
        self._waiting: list[tuple[Asked, asyncio.Future[Answer | None]]] = []
        self._due: asyncio.TimerHandle | None = None
        self._under_way: set[asyncio.Task[None]] = set()
        self._latest = 0
        self._others_at = 0.0
        """When a worker asked after another one."""

    async def ask(self, one: Asked) -> Answer:
        """Ask with others, or alone. Raise what the call raises if it is alone."""
        loop = asyncio.get_running_loop()
        if one.incarnation_id != self._latest:
            self._latest, self._others_at = one.incarnation_id, loop.time()
        elif loop.time() > self._others_at + _OTHERS_S:
            return await self._ask_alone(one)
        answered: asyncio.Future[Answer | None] = loop.create_future()
        self._waiting.append((one, answered))
        if len(self._waiting) == TOGETHER_MAX:
            self._send()
        elif self._due is None:
            self._due = loop.call_later(GATHER_S, self._send)
        answer = await answered
        return await self._ask_alone(one) if answer is None else answer

    def _send(self) -> None:
        if self._due is not None:
            self._due.cancel()
        waiting, self._waiting, self._due = self._waiting, [], None
        waiting = [pair for pair in waiting if not pair[1].done()]
        task = asyncio.create_task(self._share(waiting))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _share(self, waiting: Sequence[tuple[Asked, asyncio.Future[Answer | None]]]) -> None:
        answers: Sequence[Answer | None] = [None] * len(waiting)
        try:
            if len(waiting) > 1:
                answers = await self._ask_all([one for one, _ in waiting])
        except Exception as error:  # noqa: BLE001 (each asks alone, and is told its own)
            log.warning("link.not_shared", calls=len(waiting), error=str(error))
        finally:
            for (_, answered), answer in zip(waiting, answers, strict=True):
                if not answered.done():
                    answered.set_result(answer)
