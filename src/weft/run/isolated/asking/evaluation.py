"""Evaluation of what tenants wrote, away from the api: few processes, started when needed.

A tenant has one of them at a time, and the tenants take turns. One that is killed because its
tenant spent the budget is started again for the next. What they send is read as data of the type
that the function returns.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import lru_cache
from typing import Any, Final, get_type_hints

from weft.core.errors import NothingEvaluates, WeftError, error_classes
from weft.ports.evaluation import TooCostly
from weft.ports.shared_room import SharedRoom
from weft.run.isolated.kinds import Asked, Failure
from weft.run.isolated.pool import AsksPool, NotStarted, Pool
from weft.run.isolated.process import Answer, Ended
from weft.settings import Settings

TURN_S: Final = 30.0
"""For so long one waits for a turn."""
WITHIN_S: Final = 30.0
"""For one answer, however busy the host is; CPU is what the budget counts."""
_hints: Final = lru_cache(maxsize=100)(get_type_hints)
_MEMORY: Final = "it takes more memory than it may have"


class Evaluation(AsksPool):
    """Evaluates sets of items (`ports.evaluation`)."""

    def __init__(self, settings: Settings) -> None:
        self._all_s = settings.evaluation_all_s
        self._one_s = min(settings.evaluation_one_s, self._all_s)
        self.pool = Pool("evaluator", WITHIN_S, memory_bytes=settings.evaluation_memory_bytes)
        self._room = SharedRoom(settings.evaluators_max, most=1)
        self._free = [*range(settings.evaluators_max)]
        """Keys of processes; the last one was used last."""

    async def each(
        self,
        tenant_id: int,
        function: Callable[[Any, Any], Any],
        common: object,
        items: Sequence[Any],
    ) -> Sequence[Any]:
        """Return the answers to all items (`Evaluates.each`)."""
        if not items:
            return []
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(TURN_S):
                    await stack.enter_async_context(self._room.of(tenant_id))
            except TimeoutError as error:
                raise _too_many() from error
            key = self._free.pop()
            stack.callback(self._free.append, key)
            calls = [(function, common, item) for item in items]
            return await self._answers(key, calls, _hints(function)["return"])

    async def _answers(self, key: int, calls: Sequence[Any], kind: Any) -> Sequence[Any]:  # noqa: ANN401 (an annotation)
        """Ask, and go on behind a call whose process was killed, until all time is spent."""
        found: list[Answer] = []
        one_s = self._one_s if len(calls) > 1 else self._all_s
        while len(found) < len(calls) and (left_s := self._left_s(found)) > 0:
            try:
                asked = Asked(calls[len(found) :], one_s, left_s)
                await self.pool.answers(key, asked, kind, found)
                break
            except TimeoutError as error:
                raise _too_many() from error
            except Ended as error:
                if error.by_others:
                    how = "did not start" if isinstance(error, NotStarted) else "was ended"
                    raise NothingEvaluates(f"the process for expressions {how}") from error
                alone = self._left_s(found) >= one_s
                found.append((one_s, TooCostly(_why(one_s if alone else self._all_s), alone)))
        values = [
            # The timer counts only the ticks that meet the process: on a busy host it is late.
            TooCostly(_why(one_s), alone=True)
            if seconds > one_s
            else _opened(answer)
            if isinstance(answer, Failure)
            else answer
            for seconds, answer in found
        ]
        for value in values:
            if isinstance(value, Exception):
                raise value
        rest = len(calls) - len(found)
        return [*values, *[TooCostly(_why(self._all_s), alone=False)] * rest]

    def _left_s(self, found: Sequence[Answer]) -> float:
        return self._all_s - sum(max(seconds, 0.0) for seconds, _ in found)


def _opened(failure: Failure) -> TooCostly | Exception:
    """Return what was raised there."""
    if failure.refused is not None:
        code, message, detail, hint, errors = failure.refused
        error = next((kind for kind in error_classes() if kind.code == code), WeftError)
        return error(message, detail=detail, hint=hint, errors=errors)
    is_memory = failure.is_memory or failure.text.startswith(RecursionError.__name__)
    return TooCostly(_MEMORY, alone=True) if is_memory else RuntimeError(failure.text)


def _why(seconds: float) -> str:
    return f"it takes more than {seconds:g} s, or {_MEMORY.removeprefix('it takes ')}"


def _too_many() -> NothingEvaluates:
    return NothingEvaluates("too many expressions are being evaluated")
