"""Tests of conditions, away from the driver: a process for each tester, started when first needed.

A process in which a test does not end in time gets no more tests, and is killed with all that it
started when the others have ended. Its environment holds no settings and no secrets.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from weft.core.ends.conditions import Tested
from weft.ports.tester import TESTER_PLUGINS, DueTest
from weft.run.asked.asked_process import START_S, AskedProcess, start
from weft.settings import Settings

MARGIN_S: Final = 2.0
"""What a test may take beside its own limit, on a busy host."""
_LINE_BYTES_MAX: Final = 1 << 16


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
        self._processes: dict[str, AskedProcess] = {}
        """By tester, those that take tests."""
        self._all: set[AskedProcess] = set()

    async def test(self, one: DueTest) -> Tested | None:
        """Test this; None: it did not end in time."""
        if one.tester not in self._installed:  # else names that jobs make up cost a process each
            return Tested(passed=False, message=f"there is no tester {one.tester!r}")
        process = None
        try:
            async with asyncio.timeout(START_S):
                process = await self._process(one.tester)
            async with asyncio.timeout(self._test_s):
                found = await process.ask(one.parameters)
                return Tested(found["passed"], found["message"])
        except (TimeoutError, OSError, EOFError):
            if process is not None:
                process.retire()
            return None

    @property
    def pids(self) -> Sequence[int]:
        """Return the processes that run now."""
        return [process.pid for process in self._all]

    async def close(self) -> None:
        """End all processes."""
        for process in [*self._all]:
            await process.end()

    async def _process(self, tester: str) -> AskedProcess:
        async with self._starting.setdefault(tester, asyncio.Lock()):
            process = self._processes.get(tester)
            if process is None or process.is_retired:
                process = await start(
                    "weft.run.asked.tester", {"tester": tester, **self._site}, _LINE_BYTES_MAX
                )
                self._processes[tester] = process
                self._all.add(process)
                process.ended.add_done_callback(lambda _: self._forget(tester, process))
            return process

    def _forget(self, tester: str, process: AskedProcess) -> None:
        self._all.discard(process)
        if self._processes.get(tester) is process:
            del self._processes[tester]
