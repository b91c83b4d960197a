"""100 workers by the link beside 100 direct ones: rate, and what the link costs.

The workers are those of `fleet`, once with logins of the database, once with an api in between,
each over connections of its own; both have a new server. In turns they run jobs of a second, for
which all are busy, the same while somebody looks at pages, and jobs of no length at all.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, cast

import httpx

from benches.fleet import Fleet, fleet_of, running_fleet
from benches.outside import work_token
from benches.process_trees import cpu_s_of_tree
from benches.running_api import running_api
from benches.sessions import log_in
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    percentile,
    ratio_of,
)
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import audit_findings
from weft.ports.store import WorkerStore
from weft.run.home import Home
from weft_link.seal import LinkKey
from weft_link.worker.calls import LinkCaller, LinkFinder
from weft_link.worker.shipping import Shipper
from weft_link.worker.store import LinkedWorkerStore, LinkNotices

WORKERS: Final = 100
EACH: Final = 12
"""Jobs for each worker in one part of the bench."""
PAGE_PAUSE_S: Final = 0.03
GOALS: Final = {"rate": 0.9, "link_cpu": 1.0, "pages_p99": 1.2}
_BEGIN: Final = 0.1
_END: Final = 0.9
"""Between these shares of the jobs the rate is measured: all workers are busy."""
Opened = Callable[[], AbstractAsyncContextManager[Fleet]]


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the rate by the link beside that of direct workers."""
    load, scale = load_average(), min(plan.scale, 1.0)
    count, each = max(round(WORKERS * scale), 2), max(round(EACH * scale), 3)
    progress.begin(2)
    found: dict[str, dict[str, Any]] = {}
    conditions: dict[str, Any] = {}
    for way in ("direct", "linked"):
        progress.step(way)
        with throwaway_home(plan.directory) as home:
            async with (
                running_database(home) as (logins, token),
                running_driver(home),
                running_api(home) as url,
                Filler(logins["weft_api"], token) as filler,
            ):

                def opened() -> AbstractAsyncContextManager[Fleet]:
                    if way == "direct":  # noqa: B023 (called within this turn)
                        return running_fleet(logins["weft_worker"])
                    return _linked_fleet(home, url, token, count)

                site = _Site(home, url, token, filler)
                found[way] = await site.measure(opened, count, each)
                found[way]["audit_findings"] = await audit_findings(logins["admin"])
                conditions = await conditions_of(
                    logins["admin"],
                    home.path,
                    load_before=load,
                    sizes={"workers": count, "jobs": 3 * count * each},
                )
    direct, linked = found["direct"], found["linked"]
    rate = ratio_of(linked["jobs_per_s"], direct["jobs_per_s"])
    return document_of(
        Headline("jobs/s", linked["jobs_per_s"], direct["jobs_per_s"], rate),
        {
            "goals": GOALS,
            "link_cpu": ratio_of(linked["cpu_us"]["api"], linked["cpu_us"]["postgres"]),
            "pages_p99": ratio_of(linked["pages_ms"]["p99"], direct["pages_ms"]["p99"]),
            "flat_out": ratio_of(linked["flat_out_per_s"], direct["flat_out_per_s"]),
            "direct": direct,
            "linked": linked,
        },
        conditions,
    )


@asynccontextmanager
async def _linked_fleet(home: Home, url: str, token: str, count: int) -> AsyncIterator[Fleet]:
    """Give a fleet of which each worker has its own connections to the api."""
    file = await work_token(url, token, home.path / "link", pool="default", names="fleet-*")
    callers = [LinkCaller(LinkFinder(url, file)) for _ in range(count)]
    stores = [_store(caller, home) for caller in callers]
    try:
        async with fleet_of(stores, [LinkNotices(caller) for caller in callers]) as fleet:
            yield fleet
    finally:
        for caller in callers:
            caller.close()


def _store(caller: LinkCaller, home: Home) -> WorkerStore:
    shipper = Shipper(caller)
    shipper.root = home.path / "outside"  # the jobs write nothing
    return cast("WorkerStore", LinkedWorkerStore(caller, shipper, LinkKey()))


class _Site:
    """A server with its api."""

    def __init__(self, home: Home, url: str, token: str, filler: Filler) -> None:
        self._home = home
        self._url = url
        self._token = token
        self._filler = filler
        self._n_ended = 0

    async def measure(self, opened: Opened, count: int, each: int) -> dict[str, Any]:
        """Return what these workers achieve, and what it costs."""
        jobs = count * each
        async with opened() as fleet, httpx.AsyncClient(base_url=self._url) as http:
            await log_in(http, self._token)
            await fleet.start(count)
            before = self._cpu_s()
            rate = await self._run(fleet, jobs)
            used = {role: s - before[role] for role, s in self._cpu_s().items()}
            looking = asyncio.create_task(_look(http))
            beside = await self._run(fleet, jobs)
            looking.cancel()
            took: list[float] = await looking
            for one in fleet.workers:
                one.job_s = 0.0
            flat_out = await self._run(fleet, jobs)
            n_lost = fleet.seen.n_lost
        if not took:
            raise BenchFailed("no page was read")
        return {
            "jobs_per_s": round(rate, 1),
            "cpu_us": {role: round(s / jobs * 1e6) for role, s in used.items()},
            "jobs_per_s_beside_pages": round(beside, 1),
            "pages_ms": {f"p{n}": round(percentile(took, n), 1) for n in (50, 99)},
            "pages": len(took),
            "flat_out_per_s": round(flat_out, 1),
            "lost_workers": n_lost,
        }

    async def _run(self, fleet: Fleet, jobs: int) -> float:
        """Run jobs; return their rate while all workers are busy."""
        n_before = len(fleet.seen.claimed)
        await self._filler.fill(jobs)
        self._n_ended += jobs
        await fleet.until_ended(self._n_ended)
        times = sorted(at for _, at in fleet.seen.claimed[n_before:])
        first, last = (times[round(share * (len(times) - 1))] for share in (_BEGIN, _END))
        return (_END - _BEGIN) * len(times) / (last - first)

    def _cpu_s(self) -> Mapping[str, float]:
        """Return what server and api have used."""
        postmaster = int((self._home.pg / "postmaster.pid").read_text().split()[0])
        api = (self._home.ready("api") or {})["pid"]
        return {"postgres": cpu_s_of_tree(postmaster), "api": cpu_s_of_tree(api)}


async def _look(http: httpx.AsyncClient) -> list[float]:
    """Read pages until cancelled; return how long each took."""
    took: list[float] = []
    try:
        while True:
            for path in ("/ui/batches", "/ui/batches/1", "/ui/batches/1/jobs/1"):
                begun = time.perf_counter()
                answer = await http.get(path)
                took.append((time.perf_counter() - begun) * 1000)
                if answer.is_error:
                    raise BenchFailed(f"{path} was answered {answer.status_code}")
                await asyncio.sleep(PAGE_PAUSE_S)
    except asyncio.CancelledError:
        return took
