"""Whether a tenant that sends ten times as many requests as it may slows down another one.

By turns nobody else does anything, one token of another tenant sends reads and submissions as fast
as it may, and ten times as fast (setting `requests_per_s`), from a process of its own. Meanwhile a
user reads and submits, one request after the other with short pauses. There are no workers: jobs
are stored, and do not run.
"""

import asyncio
import os
import random
import sys
import time
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import Awaitable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from weft.bench.conditions import conditions_of, load_average
from weft.bench.figures import percentile, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.process_tree import use_by_role
from weft.bench.stormer import TOO_MANY, StormDone, StormOrder
from weft.bench.throwaway import running_api, running_database, running_driver, throwaway_home
from weft.client.api import Api
from weft.run.home import Home
from weft.settings.load import FILE_NAME

LIMIT_PER_S: Final = 50
TIMES: Final = 10
ALLOWED: Final = 0.9
"""So much of its rate limit a tenant uses that is refused nothing."""
WINDOW_S: Final = 10.0
WINDOW_MIN_S: Final = 1.0
ROUNDS: Final = 8
PATIENCE_S: Final = 60.0
WARM_UP_S: Final = 1.0
PAUSE_MAX_S: Final = 0.06
"""Between two requests: so the user stays within the limit, too."""
BODY_BYTES: Final = 4096
GOAL: Final = 1.2


class _User:
    """A user of another tenant, who works as always."""

    def __init__(self, client: Api, batch_id: int) -> None:
        self._client = client
        self._batch_id = batch_id
        self._took_ms: dict[str, list[float]] = {"reads": [], "submissions": []}
        self._cpu_s: Counter[str] = Counter()
        self._worked_s = 0.0

    async def work(self, home: Home, for_s: float) -> None:
        """Send requests for a while."""
        before, begun = _cpu_s(home), time.monotonic()
        while time.monotonic() < begun + for_s:
            await self._timed("reads", self._client.get_batch(self._batch_id))
            await self._timed("reads", self._client.get_job(self._batch_id, 1))
            await self._timed("submissions", self._client.create_batch({"jobs": [{}]}))

        self._cpu_s.update({role: used - before[role] for role, used in _cpu_s(home).items()})
        self._worked_s += time.monotonic() - begun

    async def _timed(self, name: str, request: Awaitable[object]) -> None:
        begun = time.perf_counter()
        await request
        self._took_ms[name].append((time.perf_counter() - begun) * 1000)
        await asyncio.sleep(random.uniform(0, PAUSE_MAX_S))  # noqa: S311 (spreads, guards nothing)

    def figures(self) -> dict[str, dict[str, float]]:
        """Return median and 99th percentile of both kinds of requests."""
        return {
            name: {f"p{n}_ms": round(percentile(found, n), 2) for n in (50, 99)}
            for name, found in self._took_ms.items()
        }

    def cpu_percent(self) -> dict[str, float]:
        """Return how much of a core each role used meanwhile."""
        return {role: round(100 * s / self._worked_s, 1) for role, s in self._cpu_s.items()}


def _cpu_s(home: Home) -> dict[str, float]:
    found = use_by_role(home, os.getpid())
    return {role: found[role].cpu_s for role in ("api", "postgres", "driver")}


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the 99th percentiles of a user's requests, in a storm and without one.

    Beside them stands what a tenant costs the user that keeps within its limit: what a storm adds
    to that are the refusals.
    """
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    window_s = max(WINDOW_S * plan.scale, WINDOW_MIN_S)
    progress.begin(3 * rounds + 1)
    with throwaway_home(plan.directory) as home:
        (home.path / FILE_NAME).write_text(f"requests_per_s = {LIMIT_PER_S}\n")
        async with (
            running_database(home) as (logins, token),
            running_driver(home),
            running_api(home) as url,
            Api(url, token, home=home.path) as site,
        ):
            progress.step("start")
            one, other = [await site.create_tenant(name, admin="ann") for name in ("one", "other")]
            async with Api(url, one["token"], home=home.path) as client:
                order = await _order(url, other["token"], home.path)
                allowed = msgspec.structs.replace(order, per_s=ALLOWED * LIMIT_PER_S)
                batch_id = (await client.create_batch({"jobs": [{}]}))["id"]
                warm, calm, beside, stormy = (_User(client, batch_id) for _ in range(4))
                await warm.work(home, WARM_UP_S)
                storms = []
                for number in range(1, rounds + 1):
                    progress.step(f"calm, round {number}")
                    await calm.work(home, window_s)
                    progress.step(f"within the limit, round {number}")
                    within = await _work_beside(beside, allowed, home, window_s)
                    if TOO_MANY in within.answers:
                        raise BenchFailed("a tenant within its limit was refused")
                    progress.step(f"storm, round {number}")
                    storms.append(await _work_beside(stormy, order, home, window_s))
            sizes = {"rounds": rounds, "window_s": window_s, "limit_per_s": LIMIT_PER_S}
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes=sizes
            )
    weft, within_limit, reference = (who.figures() for who in (stormy, beside, calm))
    ratios = {name: ratio_of(weft[name]["p99_ms"], reference[name]["p99_ms"]) for name in weft}
    return {
        "unit": "ms",
        "weft": weft,
        "within_limit": within_limit,
        "reference": reference,
        "ratio": max(ratios.values()),
        "goal": f"at most {GOAL}",
        **{f"{name}_ratio": ratio for name, ratio in ratios.items()},
        "storm": _summary(storms),
        "cpu_percent": {
            "weft": stormy.cpu_percent(),
            "within_limit": beside.cpu_percent(),
            "reference": calm.cpu_percent(),
        },
        "conditions": conditions,
    }


async def _order(url: str, token: str, home: Path) -> StormOrder:
    """Return what the storm sends: reads of a batch, and submissions of jobs."""
    async with Api(url, token, home=home) as client:
        batch_id = (await client.create_batch({"jobs": [{}]}))["id"]
    address = urlsplit(url)
    assert address.hostname is not None
    assert address.port is not None
    jobs = msgspec.json.encode({"jobs": [{"env": {"PADDING": "x" * BODY_BYTES}}]}).decode()
    return StormOrder(
        host=address.hostname,
        port=address.port,
        token=token,
        requests=[("GET", f"/v1/batches/{batch_id}", ""), ("POST", "/v1/batches", jobs)],
        per_s=TIMES * LIMIT_PER_S,
    )


async def _work_beside(user: _User, order: StormOrder, home: Home, window_s: float) -> StormDone:
    """Let a user work for a while beside another tenant, if that one sends more than it may, from
    its first refusal on: a token that was silent may send the requests of ten seconds at once.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "weft.bench.stormer", stdin=PIPE, stdout=PIPE,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(msgspec.json.encode(order) + b"\n")
        if order.per_s > LIMIT_PER_S:
            async with asyncio.timeout(PATIENCE_S):
                await process.stdout.readline()
        await user.work(home, window_s)
        process.stdin.close()
        answer = await process.stdout.readline()
    except TimeoutError:
        raise BenchFailed("nothing of the storm was refused") from None
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    if not answer:
        raise BenchFailed("the storm failed", detail=f"It ended with {process.returncode}.")
    return msgspec.json.decode(answer, type=StormDone)


def _summary(storms: Sequence[StormDone]) -> dict[str, Any]:
    answers: Counter[str] = Counter()
    for one in storms:
        answers.update({str(status): n for status, n in one.answers.items()})
    return {
        "sent_per_s": round(mean(one.sent_per_s for one in storms)),
        "answers": dict(answers),
        "connections": sum(one.connections for one in storms),
    }
