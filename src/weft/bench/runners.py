"""Processes that claim and complete side by side, and what they did."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass
from typing import Self

import msgspec

from weft.bench.plan import BenchFailed
from weft.bench.runner import Logins, RunnerDone
from weft.bench.turns import Order

COUNT = 2
LINE_BYTES_MAX = 1 << 26


@dataclass(frozen=True)
class RunnersRun:
    """The results of all runners."""

    began_at: float
    calls: list[tuple[float, int]]
    """When (monotonic) how many jobs were completed, in order."""

    @property
    def rate(self) -> float:
        """Return jobs per second."""
        return self.rate_between(0.0, 1.0)

    def rate_between(self, begin: float, end: float) -> float:
        """Return jobs per second between two shares of the work."""
        total = sum(jobs for _, jobs in self.calls)
        return (end - begin) * total / (self._at(end * total) - self._at(begin * total))

    def _at(self, jobs_wanted: float) -> float:
        """Return when the n-th job was completed, as if the jobs of a call came one by one."""
        at, jobs = self.began_at, 0
        for called_at, count in self.calls:
            if jobs + count >= jobs_wanted:
                return at + (called_at - at) * (jobs_wanted - jobs) / count
            at, jobs = called_at, jobs + count
        return at


class Runners:
    """Processes that wait for orders."""

    def __init__(self, *, admin_dsn: str, worker_dsn: str, count: int = COUNT) -> None:
        self.count = count
        self._logins = Logins(admin=admin_dsn, worker=worker_dsn)
        self._processes: list[Process] = []

    async def __aenter__(self) -> Self:
        for _ in range(self.count):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "weft.bench.runner", stdin=PIPE, stdout=PIPE,
                limit=LINE_BYTES_MAX, start_new_session=True,
            )  # fmt: skip
            self._processes.append(process)
        await self._tell_all(self._logins)
        return self

    async def __aexit__(self, *_: object) -> None:
        for process in self._processes:
            if process.returncode is None:
                process.kill()  # it may be in the middle of a run
            await process.wait()

    async def run(self, order: Order) -> RunnersRun:
        """Let all begin at once; return when nothing is left to claim."""
        await self._tell_all(order)
        for process in self._processes:
            await self._answer_of(process)
        await self._tell_all("go")
        lines = [await self._answer_of(process) for process in self._processes]
        done = [msgspec.json.decode(line, type=RunnerDone) for line in lines]
        calls = sorted((at, jobs) for one in done for at, jobs in one.calls)
        if not calls:
            raise BenchFailed("the runners found nothing to claim")
        return RunnersRun(min(one.began_at for one in done), calls)

    async def _tell_all(self, message: object) -> None:
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(msgspec.json.encode(message) + b"\n")
            await process.stdin.drain()

    @staticmethod
    async def _answer_of(process: Process) -> bytes:
        assert process.stdout is not None
        line = await process.stdout.readline()
        if not line:
            raise BenchFailed("a runner failed", detail=f"It ended with {await process.wait()}.")
        return line
