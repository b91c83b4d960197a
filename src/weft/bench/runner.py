"""A process that claims and completes until nothing is left: `python -m weft.bench.runner`.

Lines of JSON: the logins first, then for each run an order, which is answered when everything is
prepared, and the word to go, which is answered with what was done.
"""

import asyncio
import math
import os
import sys
import time
from collections.abc import Sequence

import asyncpg
import msgspec

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
