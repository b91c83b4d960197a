"""Tests of conditions, away from the driver: a process for each tester, started when first needed.

A process in which a test does not end in time gets no more tests, and is killed with all that it
started when the others have ended. Its environment holds no settings and no secrets.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

from weft.core.conditions import Tested
from weft.ports.tester import TESTER_PLUGINS, DueTest
from weft.run.process_group import kill_group
from weft.settings import Settings

START_S: Final = 30.0
"""What Python and its modules may take to load."""
MARGIN_S: Final = 2.0
"""What a test may take beside its own limit, on a busy host."""
IDLE_S: Final = 60.0
"""A process without tests ends after this."""
_LINE_BYTES_MAX: Final = 1 << 16
_ENVIRONMENT: Final = ("LANG", "LC_ALL", "PATH", "PYTHONPATH", "TZ")


class ConditionTests:
    """Runs tests, any number at the same time."""

    def __init__(self, settings: Settings) -> None:
        self._site = {
            "private_hosts": settings.tester_private_hosts,
            "timeout_s": settings.tester_timeout_s,
            "paths": settings.tester_paths,
            "commands": settings.tester_commands,
        }
        self._test_s = settings.tester_timeout_s + MARGIN_S
        self._installed = TESTER_PLUGINS.names()
        self._starting: dict[str, asyncio.Lock] = {}
        self._processes: dict[str, _TesterProcess] = {}
        """By tester, those that take tests."""
        self._all: set[_TesterProcess] = set()

    async def test(self, one: DueTest) -> Tested | None:
        """Test this; None: it did not end in time."""
        if one.tester not in self._installed:  # else names that jobs make up cost a process each
            return Tested(passed=False, message=f"there is no tester {one.tester!r}")
        process = None
        try:
            async with asyncio.timeout(START_S):
                process = await self._process(one.tester)
            async with asyncio.timeout(self._test_s):
                return await process.ask(one.parameters)
        except (TimeoutError, OSError, EOFError):
            if process is not None:
                process.retire()
            return None

    @property
    def pids(self) -> Sequence[int]:
        """Return the processes that run now."""
        return [one.pid for one in self._all]

    async def close(self) -> None:
        """End all processes."""
        for one in [*self._all]:
            await one.end()

    async def _process(self, tester: str) -> "_TesterProcess":
        async with self._starting.setdefault(tester, asyncio.Lock()):
            found = self._processes.get(tester)
            if found is None or found.is_retired:
                found = await _start({"tester": tester, **self._site})
                self._processes[tester] = found
                self._all.add(found)
                found.ended.add_done_callback(lambda _: self._forget(tester, found))
            return found

    def _forget(self, tester: str, process: "_TesterProcess") -> None:
        self._all.discard(process)
        if self._processes.get(tester) is process:
            del self._processes[tester]


async def _start(site: Mapping[str, Any]) -> "_TesterProcess":
    """Return a process that is ready. Raise `EOFError` or `OSError`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "weft.run.tester",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL, start_new_session=True, cwd="/", limit=_LINE_BYTES_MAX,
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
    )  # fmt: skip
    found = _TesterProcess(process)
    try:
        await found.ask(site)
    except BaseException:
        await found.end()
        raise
    return found


class _TesterProcess:
    """A process with the tests that are under way in it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.is_retired = False
        """It gets no more tests, and ends after those that it has."""
        self._process = process
        self._pending: dict[int, asyncio.Future[Tested]] = {}
        self._numbers = count()
        self._idle: asyncio.TimerHandle | None = None
        self.ended = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        """Return its number."""
        return self._process.pid

    async def ask(self, document: Mapping[str, Any]) -> Tested:
        """Return the answer. Raise `EOFError` if it ends without one."""
        self._stay()
        number = next(self._numbers)
        answer: asyncio.Future[Tested] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        try:
            assert self._process.stdin is not None
            line = json.dumps({"id": number, "asked": {**document}})
            self._process.stdin.write(line.encode() + b"\n")
            if self.ended.done():
                raise EOFError
            return await answer
        finally:
            self._pending.pop(number, None)
            self._end_unless_needed()

    def retire(self) -> None:
        """Give it no more tests."""
        self.is_retired = True
        self._end_unless_needed()

    async def end(self) -> None:
        """Kill it with all that it started."""
        self.is_retired = True
        self._kill()
        await self.ended

    async def _read(self) -> None:
        """Hand out answers until it ends."""
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                found = json.loads(line)
                answer = self._pending.get(found["id"])
                if answer is not None and not answer.done():
                    answer.set_result(Tested(found["passed"], found["message"]))
        except ValueError:  # a line without an end
            pass
        finally:
            self.is_retired = True
            self._kill()
            self._stay()
            for answer in self._pending.values():
                if not answer.done():
                    answer.set_exception(EOFError("it ended without an answer"))
        await self._process.wait()

    def _end_unless_needed(self) -> None:
        if self._pending or self.ended.done():
            return
        if self.is_retired:
            self._kill()
        else:
            self._idle = asyncio.get_running_loop().call_later(IDLE_S, self.retire)

    def _kill(self) -> None:
        kill_group(self._process)

    def _stay(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
