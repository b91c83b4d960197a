"""Whether a tenant that sends ten times as many requests as it may slows down another one.

In windows of some seconds nobody else does anything, one token of another tenant sends reads and
submissions as fast as it may, or one of them sends ten times as many (setting `requests_per_s`),
from a process of its own. Meanwhile some users read and submit, each one request after the other
with short pauses. There are no workers: jobs are stored, and do not run.

The windows come in random order, because what one leaves behind, such as rows for autovacuum, is
found by the next. There are twice as many calm ones as others: beside what the others change,
their two halves show how far the ratio of windows of the same kind lies from 1.
"""

import asyncio
import gc
import os
import random
import sys
import time
from asyncio.subprocess import PIPE
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import mean
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from benches.running_api import running_api
from benches.stormer import StormDone, StormOrder
from benches.windows import Times, ratio_of_windows
from weft.bench.figures import conditions_of, load_average, percentile
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.process_tree import use_by_role
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.client.api import Api
from weft.run.home import Home
from weft.settings.load import FILE_NAME

LIMIT_PER_S: Final = 50
TIMES: Final = 10
ALLOWED: Final = 0.9
"""So much of its rate limit a tenant uses that is refused nothing."""
USERS: Final = 3
"""Of the tenant whose requests are timed: so many that each kind of window has 2,500 submissions,
and so few that they use a quarter of the machine."""
WINDOW_S: Final = 6.0
WINDOW_MIN_S: Final = 1.0
ROUNDS: Final = 15
PATIENCE_S: Final = 60.0
WARM_UP_S: Final = 2.0
PAUSE_MAX_S: Final = 0.06
"""Between two requests: so each user stays within the limit, too."""
BODY_BYTES: Final = 4096
GOAL: Final = 1.2
OK, TOO_MANY = 200, 429
CALM, AGAIN, WITHIN, STORM = "calm", "calm again", "within the limit", "storm"
KINDS: Final = (CALM, AGAIN, WITHIN, STORM)
NAMES: Final = ("reads", "submissions")


class _Users:
    """Users of another tenant, who work as always; how long their requests took, by name, kind of
    window and round.
    """

    def __init__(self, clients: Sequence[Api], batch_ids: Sequence[int], home: Home) -> None:
        self._working = list(zip(clients, batch_ids, strict=True))
        self._home = home
        self._took_ms = {name: defaultdict[str, list[list[float]]](list) for name in NAMES}
        self._cpu_s: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._worked_s: defaultdict[str, float] = defaultdict(float)

    async def work(self, kind: str, for_s: float) -> None:
        """Send requests in a window of this kind."""
        for name in NAMES:
            self._took_ms[name][kind].append([])
        before, begun = _cpu_s(self._home), time.monotonic()
        await asyncio.gather(
            *(self._work(kind, begun + for_s, client, its) for client, its in self._working)
        )
        used = {role: used - before[role] for role, used in _cpu_s(self._home).items()}
        self._cpu_s[kind].update(used)
        self._worked_s[kind] += time.monotonic() - begun

    async def _work(self, kind: str, until: float, client: Api, batch_id: int) -> None:
        while time.monotonic() < until:
            await self._timed("reads", kind, client.get_batch(batch_id))
            await self._timed("reads", kind, client.get_job(batch_id, 1))
            await self._timed("submissions", kind, client.create_batch({"jobs": [{}]}))

    async def _timed(self, name: str, kind: str, request: Awaitable[object]) -> None:
        begun = time.perf_counter()
        await request
        self._took_ms[name][kind][-1].append((time.perf_counter() - begun) * 1000)
        await asyncio.sleep(random.uniform(0, PAUSE_MAX_S))  # noqa: S311 (spreads, guards nothing)

    def took_ms(self, name: str, *kinds: str) -> Times:
        """Return how long requests took in each round, in windows of these kinds."""
        windows = zip(*(self._took_ms[name][kind] for kind in kinds), strict=True)
        return [[took for one in parts for took in one] for parts in windows]

    def figures(self, *kinds: str) -> dict[str, dict[str, float]]:
        """Return median and 99th percentile of both sorts of requests, and how many there were."""
        found: dict[str, dict[str, float]] = {}
        for name in NAMES:
            took = [one for part in self.took_ms(name, *kinds) for one in part]
            found[name] = {f"p{n}_ms": round(percentile(took, n), 2) for n in (50, 99)}
            found[name]["requests"] = len(took)
        return found

    def cpu_percent(self, *kinds: str) -> dict[str, float]:
        """Return how much of a core each role used meanwhile."""
        used = sum((self._cpu_s[kind] for kind in kinds), Counter[str]())
        worked_s = sum(self._worked_s[kind] for kind in kinds)
        return {role: round(100 * s / worked_s, 1) for role, s in used.items()}


def _cpu_s(home: Home) -> dict[str, float]:
    found = use_by_role(home, os.getpid())
    return {role: found[role].cpu_s for role in ("api", "postgres", "driver")}


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the 99th percentiles of users' requests, in a storm and without one.

    Beside them stands what a tenant costs the users that keeps within its limit: what a storm adds
    to that are the refusals.
    """
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    window_s = max(WINDOW_S * plan.scale, WINDOW_MIN_S)
    progress.begin(len(KINDS) * rounds + 1)
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
            orders = await _orders(url, other["token"], home.path)
            async with _users(url, one["token"], home) as users:
                await users.work("warm-up", WARM_UP_S)
                done = await _all_windows(users, orders, rounds, window_s, progress)
            sizes = {
                "rounds": rounds,
                "window_s": window_s,
                "users": USERS,
                "limit_per_s": LIMIT_PER_S,
            }
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes=sizes
            )
    return {**_result(users), "storm": _summary(done[STORM]), "conditions": conditions}


@asynccontextmanager
async def _users(url: str, token: str, home: Home) -> AsyncIterator[_Users]:
    """Give users of a tenant with a batch each; `token`: of its administrator."""
    async with AsyncExitStack() as until_end:
        admin = await until_end.enter_async_context(Api(url, token, home=home.path))
        clients, batch_ids = [], []
        for number in range(1, USERS + 1):
            user = await admin.add_user(f"user-{number}")
            api = Api(url, user["token"], home=home.path)
            clients.append(await until_end.enter_async_context(api))
            batch_ids.append((await clients[-1].create_batch({"jobs": [{}]}))["id"])
        yield _Users(clients, batch_ids, home)


async def _all_windows(
    users: _Users,
    orders: dict[str, StormOrder],
    rounds: int,
    window_s: float,
    progress: BenchProgress,
) -> dict[str, list[StormDone]]:
    """Let the users work in windows of all kinds; return what others sent in each."""
    done: dict[str, list[StormDone]] = {kind: [] for kind in orders}
    gc.collect()
    gc.freeze()
    gc.disable()  # a pause of our own would look like one of the api
    try:
        for number in range(1, rounds + 1):
            for kind in random.sample(KINDS, len(KINDS)):
                progress.step(f"{kind}, round {number}")
                if kind in orders:
                    done[kind].append(await _work_beside(users, kind, orders[kind], window_s))
                else:
                    await users.work(kind, window_s)
                gc.collect(1)
    finally:
        gc.enable()
    if any(TOO_MANY in one.answers for one in done[WITHIN]):
        raise BenchFailed("a tenant within its limit was refused")
    return done


def _result(users: _Users) -> dict[str, Any]:
    """Return all figures. Windows in which nobody else does anything are the reference."""
    compared = {
        "storm": ((STORM,), (CALM, AGAIN)),
        "within_limit": ((WITHIN,), (CALM, AGAIN)),
        "nobody": ((AGAIN,), (CALM,)),
    }
    rows: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in NAMES}
    for name in NAMES:
        for title, kinds in compared.items():
            ours, theirs = (users.took_ms(name, *part) for part in kinds)
            found = ratio_of_windows(ours, theirs, 99)
            rows[name][title] = found.row()
            if title == "storm":
                rows[name][title]["verdict"] = found.verdict(GOAL)
    storm = {name: rows[name]["storm"] for name in NAMES}
    return {
        "unit": "ms",
        "weft": users.figures(STORM),
        "within_limit": users.figures(WITHIN),
        "reference": users.figures(CALM, AGAIN),
        "ratio": max(row["ratio"] for row in storm.values()),
        "goal": f"at most {GOAL}",
        **{f"{name}_ratio": row["ratio"] for name, row in storm.items()},
        "ratios": rows,
        "cpu_percent": {
            "weft": users.cpu_percent(STORM),
            "within_limit": users.cpu_percent(WITHIN),
            "reference": users.cpu_percent(CALM, AGAIN),
        },
    }


async def _orders(url: str, token: str, home: Path) -> dict[str, StormOrder]:
    """Return what two tokens of a tenant send, by kind of window: reads of a batch, and
    submissions of jobs. The one that is refused nothing is never the one that has just stormed.
    """
    async with Api(url, token, home=home) as client:
        batch_id = (await client.create_batch({"jobs": [{}]}))["id"]
        second = (await client.create_token("second"))["token"]
    address = urlsplit(url)
    assert address.hostname is not None
    assert address.port is not None
    jobs = msgspec.json.encode({"jobs": [{"env": {"PADDING": "x" * BODY_BYTES}}]}).decode()
    storm = StormOrder(
        host=address.hostname,
        port=address.port,
        token=token,
        requests=[("GET", f"/v1/batches/{batch_id}", ""), ("POST", "/v1/batches", jobs)],
        per_s=TIMES * LIMIT_PER_S,
        begun_at=TOO_MANY,
    )
    within = msgspec.structs.replace(storm, token=second, per_s=ALLOWED * LIMIT_PER_S, begun_at=OK)
    return {STORM: storm, WITHIN: within}


async def _work_beside(users: _Users, kind: str, order: StormOrder, window_s: float) -> StormDone:
    """Let users work for a while beside another tenant, if that one sends more than it may, from
    its first refusal on: a token that was silent may send the requests of ten seconds at once.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "benches.stormer",
        stdin=PIPE,
        stdout=PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(msgspec.json.encode(order) + b"\n")
        async with asyncio.timeout(PATIENCE_S):
            await process.stdout.readline()
        await users.work(kind, window_s)
        process.stdin.close()
        answer = await process.stdout.readline()
    except TimeoutError:
        raise BenchFailed("the storm did not begin") from None
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
