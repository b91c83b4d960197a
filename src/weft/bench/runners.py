"""Processes that claim and complete side by side, and what they did."""

import asyncio
import math
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import asyncpg
import msgspec

from weft.bench.plan import BenchFailed
from weft.bench.turns import (
    InOneCall,
    InTwoCalls,
    Order,
    ThroughStore,
    Turn,
    Work,
    bare_turn,
    bare_turn_in_one,
    register,
)
from weft.store import open_worker_store
from weft.store.database import prepare_connection
from weft.telemetry.log import configure

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
                sys.executable,
                "-P",
                "-m",
                "weft.bench.runners",
                stdin=PIPE,
                stdout=PIPE,
                limit=LINE_BYTES_MAX,
                start_new_session=True,
            )
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


HEARTBEAT_S = 10.0
AGAIN_S = 0.002
BARE = {"bare": bare_turn, "bare_in_one": bare_turn_in_one}
FUNCTIONS = {"weft": InOneCall, "weft_in_two": InTwoCalls}


class Logins(msgspec.Struct):
    """How to log in."""

    admin: str
    worker: str


class RunnerDone(msgspec.Struct):
    """The result of a run."""

    began_at: float
    calls: list[tuple[float, int]]
    """When (monotonic) how many jobs were completed."""


async def main() -> None:
    """Run orders until there are no more."""
    configure(level="info", format="json", role="bench")  # as in a role: calls are not logged
    logins = msgspec.json.decode(_line(), type=Logins)
    bare = await asyncpg.connect(logins.admin)
    functions: list[asyncpg.Connection] = []
    async with open_worker_store(logins.worker) as store:
        while line := _line():
            order = msgspec.json.decode(line, type=Order)
            if order.kind in BARE:
                _say(await _run([await BARE[order.kind](bare, order)], order))
                continue
            while len(functions) < order.claimers:
                functions.append(await _connect(logins.worker))
            incarnation_ids = [
                await register(store, f"bench-{os.getpid()}-{number}", cores=order.cores)
                for number in range(order.claimers)
            ]
            turns = []
            for connection, incarnation_id in zip(functions, incarnation_ids, strict=False):
                work: Work = (
                    ThroughStore(store, order, incarnation_id)
                    if order.kind == "store"
                    else FUNCTIONS[order.kind](connection, order, incarnation_id)
                )
                turns.append(_with_heartbeats(work))
            _say(await _run(turns, order))
            for incarnation_id in incarnation_ids:
                await store.leave(incarnation_id)


async def _connect(dsn: str) -> asyncpg.Connection:
    connection = await asyncpg.connect(dsn, server_settings={"timezone": "UTC"})
    await prepare_connection(connection)
    return connection


async def _run(turns: Sequence[Turn], order: Order) -> RunnerDone:
    _say("ready")
    _line()
    result = RunnerDone(time.monotonic(), [])
    await asyncio.gather(*(_repeat(turn, order, result) for turn in turns))
    return result


async def _repeat(turn: Turn, order: Order, result: RunnerDone) -> None:
    left = math.inf if order.jobs_max is None else order.jobs_max
    found_at = result.began_at
    while left > 0:
        if jobs := await turn():
            found_at = time.monotonic()
            result.calls.append((found_at, jobs))
            left -= jobs
        elif time.monotonic() - found_at >= order.patience_s:
            break
        else:
            await asyncio.sleep(AGAIN_S)


def _with_heartbeats(work: Work) -> Turn:
    beaten_at = time.monotonic()

    async def beating() -> int:
        nonlocal beaten_at
        if time.monotonic() - beaten_at > HEARTBEAT_S:
            beaten_at = time.monotonic()
            await work.beat()
        return await work.turn()

    return beating


def _line() -> bytes:
    return sys.stdin.buffer.readline()


def _say(message: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    asyncio.run(main())
