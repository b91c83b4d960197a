"""A process that claims and completes until nothing is left: `python -m weft.bench.runner`.

Lines of JSON: the logins first, then for each run an order, which is answered when everything is
prepared, and the word to go, which is answered with what was done.
"""

import asyncio
import math
import os
import sys
import time
import uuid

import asyncpg
import msgspec

from weft import __version__
from weft.bench.turns import (
    CPU_M,
    MEMORY_MIB,
    InOneCall,
    InTwoCalls,
    Order,
    ThroughStore,
    Turn,
    Work,
    bare_turn,
    bare_turn_in_one,
)
from weft.store import PostgresWorkerStore, open_worker_store
from weft.store.database import prepare_connection
from weft.telemetry.log import configure

JOBS_HELD_MAX = 10_000
HEARTBEAT_S = 10.0
AGAIN_S = 0.002
BARE = {"bare": bare_turn, "bare_in_one": bare_turn_in_one}
FUNCTIONS = {"weft": InOneCall, "weft_in_two": InTwoCalls}


class Logins(msgspec.Struct):
    """How to log in."""

    admin: str
    worker: str


class Done(msgspec.Struct):
    """The result of a run."""

    began_at: float
    calls: list[tuple[float, int]]
    """When (monotonic) how many jobs were completed."""


async def main() -> None:
    """Run orders until there are no more."""
    configure(level="info", format="json", role="bench")  # as in a role: calls are not logged
    logins = msgspec.json.decode(_line(), type=Logins)
    bare = await asyncpg.connect(logins.admin)
    functions = await asyncpg.connect(logins.worker, server_settings={"timezone": "UTC"})
    await prepare_connection(functions)
    async with open_worker_store(logins.worker) as store:
        while line := _line():
            order = msgspec.json.decode(line, type=Order)
            if order.kind in BARE:
                _say(await _run(await BARE[order.kind](bare, order), order))
                continue
            incarnation_id = await _register(store)
            work: Work = (
                ThroughStore(store, order, incarnation_id)
                if order.kind == "store"
                else FUNCTIONS[order.kind](functions, order, incarnation_id)
            )
            _say(await _run(_with_heartbeats(work), order))
            await store.leave(incarnation_id)


async def _run(turn: Turn, order: Order) -> Done:
    _say("ready")
    _line()
    result = Done(time.monotonic(), [])
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
    return result


async def _register(store: PostgresWorkerStore) -> int:
    name = f"bench-{os.getpid()}"
    registered = await store.register_worker(
        name=name, host=name, pool="default", incarnation=str(uuid.uuid4()),
        cpu_m=CPU_M * JOBS_HELD_MAX, memory_mib=MEMORY_MIB * JOBS_HELD_MAX, storage_mib=0, gpu=0,
        offers={"executor": ["process", "function"]},
        version=__version__, same_host_proved_gone=True,
    )  # fmt: skip
    return registered.incarnation_id


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
