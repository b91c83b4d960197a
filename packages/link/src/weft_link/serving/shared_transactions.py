"""What workers outside say again and again: calls of many that come together share a transaction,
and what heartbeats say of a worker is kept for the metrics.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Generic, TypeVar

import msgspec

from weft.core.bounded import read_msgpack
from weft.ports.worker_link import Beat, Ends, LinkFacts
from weft.telemetry import metrics
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


_REMEMBERED_MAX: Final = 10_000


class Hearing:
    """What was heard last, for the metrics and for those who look at this api."""

    def __init__(self, lost_after_s: float) -> None:
        self._lost_after_s = lost_after_s
        self._heard: dict[int, tuple[float, tuple[str, str], LinkFacts]] = {}
        """When an incarnation said what, and its pool and name; the one that was silent longest
        first.
        """

    def note(
        self, incarnation_id: int, worker: tuple[str, str], facts: msgspec.Raw, *, is_alive: bool
    ) -> None:
        """Note what a worker says: whatever it likes. What cannot be is passed over."""
        self._heard.pop(incarnation_id, None)
        try:
            found = read_msgpack(facts, LinkFacts | None, is_counted=True) if is_alive else None
        except msgspec.DecodeError:
            return
        if found is not None:
            self._heard[incarnation_id] = time.monotonic(), worker, found
            while len(self._heard) > _REMEMBERED_MAX:
                del self._heard[next(iter(self._heard))]

    def told(self) -> Mapping[tuple[str, str], LinkFacts]:
        """Return what workers have said last, by pool and name; of those that said nothing for
        long, or not to this api, there is nothing.
        """
        since = time.monotonic() - self._lost_after_s
        return {name: facts for at, name, facts in self._heard.values() if at > since}

    def show(self) -> None:
        metrics.set_linked_workers(
            {
                worker: (facts.delay_ms / 1000, facts.unshipped_bytes, facts.input_cache_bytes)
                for worker, facts in self.told().items()
            }
        )
