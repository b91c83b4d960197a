"""Evaluation of what tenants wrote, away from the api: few processes, started when needed.

A tenant has one of them at a time, and the tenants take turns. One that is killed because its
tenant spent the budget is started again for the next. Their environment holds no settings and no
secrets, and what they send is read as data of the type that the function returns.
"""

import asyncio
import os
import pickle
import sys
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from signal import SIGKILL, SIGTERM
from typing import Any, Final, get_type_hints

import msgspec

from weft.core.errors import NothingEvaluates, WeftError, error_classes
from weft.ports.evaluation import TooCostly
from weft.run.asked.evaluator import LENGTH, Answer, Refused
from weft.run.host.process_group import kill_group
from weft.settings import Settings

START_S: Final = 60.0
"""What Python and the libraries may take to load."""
IDLE_S: Final = 300.0
"""A process that is not asked for so long ends."""
TURN_S: Final = 30.0
"""For so long one waits for a turn."""
WITHIN_S: Final = 30.0
"""For one answer, however busy the host is; CPU is what the budget counts."""
_ANSWER_BYTES_MAX: Final = 16 << 20
_Call = tuple[Callable[[Any, Any], Any], object, Sequence[Any], float, float]
"""As `evaluator` reads it."""
_ENVIRONMENT: Final = ("LANG", "LC_ALL", "PATH", "PYTHONPATH", "TZ")


_ANSWER: Final = msgspec.msgpack.Decoder(Answer)
_REFUSED: Final = msgspec.msgpack.Decoder(Refused)


class _WrongAnswer(Exception):
    """An answer is larger than anybody reads, or of another type."""


class Evaluation:
    """Evaluates sets of items (`ports.evaluation`)."""

    def __init__(self, settings: Settings) -> None:
        self._all_s = settings.evaluation_all_s
        self._one_s = min(settings.evaluation_one_s, self._all_s)
        self._memory_bytes = settings.evaluation_memory_bytes
        self._room = asyncio.Semaphore(settings.evaluators_max)
        self._turns: dict[int, asyncio.Lock] = {}
        self._waiting: Counter[int] = Counter()
        self._processes: dict[Process, asyncio.TimerHandle | None] = {}
        """With the timers of those that are free."""
        self._ending: set[asyncio.Task[object]] = set()

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
        async with self._turn(tenant_id):
            return await self._answers(function, common, items)

    async def close(self) -> None:
        """End all processes."""
        for process in [*self._processes]:
            self._end(process)
        await asyncio.gather(*self._ending)

    @property
    def pids(self) -> Sequence[int]:
        """Return the processes that run now."""
        return [process.pid for process in self._processes]

    @asynccontextmanager
    async def _turn(self, tenant_id: int) -> AsyncIterator[None]:
        """Wait until the tenant has none, and one is free for it. Raise `NothingEvaluates`."""
        turn = self._turns.setdefault(tenant_id, asyncio.Lock())
        self._waiting[tenant_id] += 1
        try:
            try:
                async with asyncio.timeout(TURN_S):
                    await turn.acquire()
            except TimeoutError as error:
                raise _too_many() from error
            try:
                try:
                    async with asyncio.timeout(TURN_S):
                        await self._room.acquire()
                except TimeoutError as error:
                    raise _too_many() from error
                try:
                    yield
                finally:
                    self._room.release()
            finally:
                turn.release()
        finally:
            self._waiting[tenant_id] -= 1
            if not self._waiting[tenant_id]:
                del self._waiting[tenant_id], self._turns[tenant_id]

    async def _answers(
        self, function: Callable[[Any, Any], Any], common: object, items: Sequence[Any]
    ) -> Sequence[Any]:
        """Ask, and go on behind an item whose process was killed, until all time is spent."""
        found: list[Any] = []
        left_s, one_s = self._all_s, self._one_s if len(items) > 1 else self._all_s
        while len(found) < len(items) and left_s > 0:
            call = (function, common, items[len(found) :], one_s, left_s)
            process = await self._free()
            try:
                left_s = await self._read(process, call, found, left_s)
            except (EOFError, OSError, _WrongAnswer):
                if await self._was_ended(process):
                    raise NothingEvaluates("the process for expressions was ended") from None
                alone = left_s >= one_s
                found.append(TooCostly(_why(one_s if alone else self._all_s), alone))
                left_s -= one_s
            except BaseException:
                self._end(process)
                raise
            else:
                timer = asyncio.get_running_loop().call_later(IDLE_S, self._end, process)
                self._processes[process] = timer
        rest = len(items) - len(found)
        return [*found, *[TooCostly(_why(self._all_s), alone=False)] * rest]

    async def _read(self, process: Process, call: _Call, found: list[Any], left_s: float) -> float:
        """Add answers until all are there or the time is spent; return what is left of it. Raise
        `EOFError` if the process ended, `_WrongAnswer`, and what was raised there.
        """
        assert process.stdin is not None
        process.stdin.write(pickle.dumps(call))
        raised: Exception | None = None
        function, _, items, *_ = call
        for _ in items:
            try:
                async with asyncio.timeout(WITHIN_S):
                    body = await _frame(process)
            except TimeoutError as error:
                raise _too_many() from error
            if not body:
                return 0.0
            seconds, value = _value_of(body, function)
            left_s -= max(seconds, 0.0)
            if isinstance(value, Exception):
                raised = raised or value
            found.append(value)
        if raised is not None:
            raise raised
        return left_s

    async def _free(self) -> Process:
        for process, timer in self._processes.items():
            if timer is not None and process.returncode is None:
                timer.cancel()
                self._processes[process] = None
                return process
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "weft.run.asked.evaluator", str(self._memory_bytes),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, start_new_session=True, cwd="/",
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )  # fmt: skip
        self._processes[process] = None
        try:
            async with asyncio.timeout(START_S):
                await _frame(process)
        except (TimeoutError, EOFError, OSError) as error:
            self._end(process)
            raise NothingEvaluates("the process for expressions did not start") from error
        except BaseException:
            self._end(process)
            raise
        return process

    async def _was_ended(self, process: Process) -> bool:
        """End it; say whether it ended by itself or by somebody, and not for its budget."""
        own = process.stdout is not None and not process.stdout.at_eof()
        self._end(process)
        code = await process.wait()
        return not own and (code >= 0 or code in {-SIGKILL, -SIGTERM})

    def _end(self, process: Process) -> None:
        timer = self._processes.pop(process, None)
        if timer is not None:
            timer.cancel()
        kill_group(process)
        task = asyncio.create_task(process.communicate())  # until its pipes are closed
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _frame(process: Process) -> bytes:
    """Return the next answer. Raise `EOFError` if the process ends, `_WrongAnswer`."""
    assert process.stdout is not None
    (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
    if length > _ANSWER_BYTES_MAX:
        raise _WrongAnswer
    return await process.stdout.readexactly(length)


def _value_of(body: bytes, function: Callable[[Any, Any], Any]) -> tuple[float, object]:
    """Return the seconds and the answer, or the error that was raised. Raise `_WrongAnswer`."""
    try:
        seconds, how, said = _ANSWER.decode(body)
        if how == "value":
            return seconds, _decoder_of(function).decode(said)
        if how == "memory":
            return seconds, TooCostly(_MEMORY, alone=True)
        if how == "failed":
            return seconds, RuntimeError(msgspec.msgpack.decode(said, type=str))
        code, message, detail, hint, errors = _REFUSED.decode(said)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _WrongAnswer from error
    kind = next((one for one in error_classes() if one.code == code), WeftError)
    return seconds, kind(message, detail=detail, hint=hint, errors=errors)


@lru_cache(maxsize=100)
def _decoder_of(function: Callable[[Any, Any], Any]) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(get_type_hints(function)["return"])


_MEMORY: Final = "it takes more memory than it may have"


def _why(seconds: float) -> str:
    return f"it takes more than {seconds:g} s, or {_MEMORY.removeprefix('it takes ')}"


def _too_many() -> NothingEvaluates:
    return NothingEvaluates("too many expressions are being evaluated")
