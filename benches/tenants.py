"""Whether one tenant among 10,000 with 10 users each is served as if it were alone.

Two real `weft up` on one machine: in one each of the tenants has run a job, the other has one
tenant. Users of either submit large batches and single jobs in turns, as in `submit` and
`latency`; among the many it is another tenant's each time. Then every user of the many asks for
something: the api keeps what it knows of callers within bounds, so its memory must not follow
their number.
"""

import asyncio
import itertools
import json
import random
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import asyncpg
import httpx

from benches.queries import query
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    percentile,
    ratio_of,
)
from weft.bench.latency import submit_one
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.process_tree import use_by_role
from weft.bench.statemachine import tidy
from weft.bench.submit import WARM_UP, plain_job, submit_jobs
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api
from weft.run.home import Home

TENANTS: Final = 10_000
USERS: Final = 10
"""Of each tenant."""
JOBS: Final = 200_000
ROUNDS: Final = 3
SUBMISSIONS: Final = 500
STEPS: Final = 10
AT_ONCE: Final = 4
LOOK_S: Final = 0.05
GOAL: Final = 0.97


@dataclass
class _Site:
    """A whole `weft up` and the users of its tenants."""

    home: Home
    up_pid: int
    tokens: Sequence[Sequence[str]]
    """Of each tenant, those of its users."""
    rates: list[float] = field(default_factory=list)
    latencies_ms: list[float] = field(default_factory=list)
    _chance: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311 (chooses users)

    @asynccontextmanager
    async def user(self) -> AsyncIterator[Api]:
        """Give a client of any user that has run a job, whose token the api has just seen."""
        token, *_ = self._chance.choice(self.tokens)
        async with client_of(self.home, token=token) as client:
            await client.whoami()
            yield client

    async def submit(self, count: int) -> None:
        """Submit a large batch."""
        async with self.user() as client:
            self.rates.append(await submit_jobs(client, count, plain_job))

    async def submit_one(self) -> None:
        """Submit a job and wait until it has run."""
        async with self.user() as client:
            self.latencies_ms.append(await submit_one(client))

    def api_mb(self) -> float:
        """Return the resident memory of the api."""
        return use_by_role(self.home, self.up_pid)["api"].rss_mb

    def figures(self) -> dict[str, float]:
        """Return what was measured."""
        found = {f"p{n}_ms": round(percentile(self.latencies_ms, n), 2) for n in (50, 99)}
        return {"jobs_per_s": median_rate(self.rates), **found}


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second and milliseconds to the first instruction, of many and of one."""
    load, rounds, jobs = load_average(), plan.rounds_of(ROUNDS), plan.jobs_of(JOBS)
    tenants, submissions = (max(2, round(usual * plan.scale)) for usual in (TENANTS, SUBMISSIONS))
    progress.begin(rounds + STEPS + 4)
    progress.step("start")
    async with _site(plan.directory) as many, _site(plan.directory) as one:
        progress.step(f"{tenants:,} tenants with {USERS} users each")
        await _settle(one, 1)
        await _settle(many, tenants)
        for site in (many, one):
            await site.submit(min(jobs, WARM_UP))
            site.rates.clear()
        for number in range(1, rounds + 1):
            progress.step(f"{jobs:,} jobs, round {number}")
            for site in _in_turns(number, many, one):
                await site.submit(jobs)
        for number in range(submissions):
            if number % max(1, submissions // STEPS) == 0:
                progress.step(f"job {number + 1} of {submissions}")
            for site in _in_turns(number, many, one):
                await site.submit_one()
        progress.step(f"a request of {tenants * USERS:,} users")
        memory = await _ask_as_everybody(many)
        sizes = {
            "tenants": tenants,
            "users": tenants * USERS,
            "jobs": jobs,
            "rounds": rounds,
            "submissions": submissions,
        }
        admin = many.home.secrets()["admin"]
        conditions = await conditions_of(admin, many.home.path, load_before=load, sizes=sizes)
    weft, reference = many.figures(), one.figures()
    ratios = {
        "submit_ratio": ratio_of(weft["jobs_per_s"], reference["jobs_per_s"]),
        "latency_ratio": ratio_of(reference["p50_ms"], weft["p50_ms"]),
    }
    return document_of(
        Headline("jobs/s, ms", weft, reference, min(ratios.values())),
        {
            "goal": GOAL,
            **ratios,
            "rounds": {
                "weft": list(map(round, many.rates)),
                "reference": list(map(round, one.rates)),
            },
            "api_mb": memory,
        },
        conditions,
    )


def _in_turns(number: int, many: _Site, one: _Site) -> Sequence[_Site]:
    """Return both, each of them first every other time."""
    return (many, one) if number % 2 else (one, many)


@asynccontextmanager
async def _site(directory: Path | None) -> AsyncIterator[_Site]:
    with throwaway_home(directory) as home:
        async with running_weft(home) as up_pid:
            yield _Site(home, up_pid, [])


async def _settle(site: _Site, tenants: int) -> None:
    """Make tenants with their users, and let one of each run a job."""
    admin, secret = site.home.secrets()["admin"], secrets.token_hex(16)
    connection = await asyncpg.connect(admin)
    try:
        await connection.execute(query("many_tenants"), tenants, USERS, secret)
    finally:
        await connection.close()
    site.tokens = [
        [f"{secret}-{tenant}-{user}" for user in range(1, USERS + 1)]
        for tenant in range(1, tenants + 1)
    ]
    async with _http(site) as http:
        left = iter([tokens[0] for tokens in site.tokens])
        await asyncio.gather(*(_run_a_job_each(http, left) for _ in range(AT_ONCE)))
    await tidy(admin)


async def _run_a_job_each(http: httpx.AsyncClient, tokens: Iterator[str]) -> None:
    batches = []
    for token in tokens:
        created = await _ask(http, token, "POST", "/v1/batches", {"jobs": [{"command": ["true"]}]})
        batches.append((token, created["id"]))
    for token, batch_id in batches:
        path = f"/v1/batches/{batch_id}"
        while not (await _ask(http, token, "GET", path))["complete"]:  # noqa: ASYNC110 (another process)
            await asyncio.sleep(LOOK_S)


async def _ask_as_everybody(site: _Site) -> Mapping[str, float]:
    """Let each user ask for their batches; return the api's memory before, after one half and at
    the end. What it keeps of callers is full by the first half, at the usual size.
    """
    tokens = list(itertools.chain.from_iterable(site.tokens))
    half = len(tokens) // 2
    memory = {"before": site.api_mb()}
    async with _http(site) as http:
        for name, some in (("half", tokens[:half]), ("all", tokens[half:])):
            left = iter(some)
            await asyncio.gather(*(_list_batches(http, left) for _ in range(AT_ONCE)))
            memory[name] = site.api_mb()
    return {**memory, "second_half": round(memory["all"] - memory["half"], 1)}


async def _list_batches(http: httpx.AsyncClient, tokens: Iterator[str]) -> None:
    for token in tokens:
        await _ask(http, token, "GET", "/v1/batches?limit=1")


def _http(site: _Site) -> httpx.AsyncClient:
    """Return connections for requests of many users; weft's own client has one user."""
    return httpx.AsyncClient(
        base_url=json.loads(site.home.client_file.read_bytes())["url"], timeout=60
    )


async def _ask(
    http: httpx.AsyncClient, token: str, method: str, path: str, document: object = None
) -> Any:  # noqa: ANN401 (a document)
    headers = {"authorization": f"Bearer {token}"}
    answer = await http.request(method, path, json=document, headers=headers)
    if answer.is_error:
        raise BenchFailed(f"{method} {path} was answered {answer.status_code}", detail=answer.text)
    return answer.json()
