"""How soon entries of the trail are sealed, and whether their writers wait.

Eight connections, four to each of two apis, rename a batch each, together at a steady rate: each
request is an entry. By turns a driver seals them, and none runs. While it does, the age of the
oldest entry that is not sealed is looked at all the time (`weft` is the highest, the reference a
second), and the log of the server tells each wait for a lock. Beside it stands one writer alone.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import asyncpg

from benches.lock_waits import WAIT_MS_MIN, lock_waits, log_lock_waits
from benches.queries import query
from benches.running_api import running_api
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    percentile,
    ratio_of,
)
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.process_tree import use_by_role
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import audit_findings
from weft.client.api import Api
from weft.run.home import Home

WRITERS: Final = 8
PER_S: Final = 200
WINDOW_S: Final = 10.0
WINDOW_MIN_S: Final = 1.0
ROUNDS: Final = 3
LOOK_S: Final = 0.01
GOAL_MS: Final = 1000.0
WRITERS_GOAL: Final = 1.2
_MS_PER_S: Final = 1000


@dataclass
class _Found:
    """What was measured while entries were sealed."""

    ages_ms: list[float] = field(default_factory=list)
    """Of the oldest one that was not sealed, at each look."""
    delays_ms: list[float] = field(default_factory=list)
    """Of each entry, until it was sealed."""


@dataclass(frozen=True)
class _Site:
    home: Home
    admin: asyncpg.Connection
    writers: Sequence[tuple[Api, int]]
    """Clients, with a batch each."""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the age of entries until they are sealed, and the times of their writers."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    window_s = max(WINDOW_S * plan.scale, WINDOW_MIN_S)
    progress.begin(3 * rounds + 2)
    progress.step("start")
    took_ms: dict[str, list[float]] = {"sealed": [], "unsealed": [], "alone": []}
    cpu_s: dict[str, Counter[str]] = {"sealed": Counter(), "unsealed": Counter()}
    found = _Found()
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token):
            await log_lock_waits(logins["admin"])
            async with _site(home, logins["admin"], token) as site:
                await _write(site.writers, WINDOW_MIN_S)  # warms both apis up
                for number in range(1, rounds + 1):
                    progress.step(f"without a driver, round {number}")
                    took_ms["unsealed"] += await _write_watched(
                        site, [], cpu_s["unsealed"], window_s
                    )
                    async with running_driver(home):
                        await _all_sealed(site)
                        progress.step(f"sealed, round {number}")
                        took_ms["sealed"] += await _write_sealed(
                            site, found, cpu_s["sealed"], window_s
                        )
                        progress.step(f"one writer, round {number}")
                        took_ms["alone"] += await _write(site.writers[:1], window_s)
                        await _all_sealed(site)
                progress.step("audit")
            findings = await audit_findings(logins["admin"])
            sizes = {"rounds": rounds, "writers": WRITERS, "per_s": PER_S, "window_s": window_s}
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes=sizes
            )
            waits = lock_waits(home)
    worst = max(found.ages_ms)
    writers = {name: _summary(times) for name, times in took_ms.items()}
    return document_of(
        Headline("ms", round(worst, 1), GOAL_MS, ratio_of(worst, GOAL_MS)),
        {
            "goal": "at most 1",
            "unsealed_ms": _summary(found.ages_ms),
            "sealed_after_ms": _summary(found.delays_ms),
            "entries": len(found.delays_ms),
            "writers_ms": writers,
            "writers_ratio": ratio_of(writers["sealed"]["p99"], writers["unsealed"]["p99"]),
            "writers_goal": f"at most {WRITERS_GOAL}",
            "cpu_percent": {
                name: {role: round(100 * s / (rounds * window_s), 1) for role, s in used.items()}
                for name, used in cpu_s.items()
            },
            f"lock_waits_over_{WAIT_MS_MIN}_ms": {lock: len(ms) for lock, ms in waits.items()},
            "audit_findings": findings,
        },
        conditions,
    )


def _summary(times: Sequence[float]) -> dict[str, float]:
    return {
        **{f"p{n}": round(percentile(times, n), 1) for n in (50, 99)},
        "max": round(max(times), 1),
    }


@asynccontextmanager
async def _site(home: Home, admin_dsn: str, token: str) -> AsyncIterator[_Site]:
    """Run two apis, with half of the writers each."""
    async with AsyncExitStack() as stack:
        urls = [
            await stack.enter_async_context(running_api(home, name)) for name in ("api", "api-2")
        ]
        clients = [
            await stack.enter_async_context(Api(urls[n % len(urls)], token, home=home.path))
            for n in range(WRITERS)
        ]
        writers = [
            (client, int((await client.create_batch({"jobs": [{}]}))["id"])) for client in clients
        ]
        admin = await asyncpg.connect(admin_dsn)
        try:
            yield _Site(home, admin, writers)
        finally:
            await admin.close()


async def _write(writers: Sequence[tuple[Api, int]], for_s: float) -> list[float]:
    """Let each of these write at its part of the rate; return how long each request took."""
    period_s = WRITERS / PER_S
    begun = time.monotonic()

    async def write(number: int, client: Api, batch_id: int) -> list[float]:
        took_ms = []
        for turn in range(round(for_s / period_s)):
            due_at = begun + (turn + number / WRITERS) * period_s
            await asyncio.sleep(max(0.0, due_at - time.monotonic()))
            sent_at = time.perf_counter()
            await client.edit_batch(batch_id, {"name": f"{number}-{sent_at}"})
            took_ms.append((time.perf_counter() - sent_at) * _MS_PER_S)
        return took_ms

    found = await asyncio.gather(*(write(n, *one) for n, one in enumerate(writers)))
    return [ms for one in found for ms in one]


async def _write_sealed(
    site: _Site, found: _Found, cpu_s: Counter[str], for_s: float
) -> list[float]:
    """Write while a driver seals; note when it has sealed what."""
    ((last,),) = await site.admin.fetch(query("last_sealed"))
    took_ms = await _write_watched(site, found.ages_ms, cpu_s, for_s)
    await _all_sealed(site)
    delays = await site.admin.fetch(query("sealing_delays"), last)
    found.delays_ms += [row[0] * _MS_PER_S for row in delays]
    return took_ms


async def _write_watched(
    site: _Site, ages_ms: list[float], cpu_s: Counter[str], for_s: float
) -> list[float]:
    """Write, and look at what is not sealed meanwhile, and at who uses the processors."""
    before = _cpu_s(site.home)
    looking = asyncio.create_task(_look(site.admin, ages_ms))
    took_ms = await _write(site.writers, for_s)
    looking.cancel()
    with suppress(asyncio.CancelledError):
        await looking
    cpu_s.update({role: used - before.get(role, 0.0) for role, used in _cpu_s(site.home).items()})
    return took_ms


def _cpu_s(home: Home) -> dict[str, float]:
    return {role: used.cpu_s for role, used in use_by_role(home, os.getpid()).items()}


async def _look(admin: asyncpg.Connection, ages_ms: list[float]) -> None:
    text = query("unsealed_age")
    while True:
        _, age_s = await admin.fetchrow(text)
        ages_ms.append(age_s * _MS_PER_S)
        await asyncio.sleep(LOOK_S)


async def _all_sealed(site: _Site) -> None:
    while (await site.admin.fetchrow(query("unsealed_age")))[0]:  # noqa: ASYNC110 (another process)
        await asyncio.sleep(LOOK_S)
