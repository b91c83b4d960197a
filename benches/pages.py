"""What it costs to look: every page of a large installation, by HTTP and in Chromium.

A batch of 1,000,000 jobs, of which 10,000 have run and as many run, and 100,000 small batches.
Each page whose address needs no more than a batch, a group, a job, a pool or a billing project is
read over one open connection, one after the other; then it is opened in Chromium, if there is one
on the PATH, with its parts in its cache, until it is drawn. Then batches are submitted beside an
open page, until it shows them, and 200 pages stay open while nothing happens.

A whole `weft up` of its own is asked for the rest: small processes beside 200 open pages and
without them, jumps in a log of a gigabyte, and commands of the terminal.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import httpx

from benches import command_start, long_log, open_pages
from benches.chromium import Tab, find_chromium, open_tab
from benches.held_jobs import held_jobs
from benches.layout import fill_small
from benches.running_api import running_api
from benches.sessions import Session, log_in
from weft.api.app import ROUTES
from weft.api.html.assets import PREFIX
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    machine_conditions,
    percentile,
)
from weft.bench.filled_batch import SHAPE, Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.runners import Runners
from weft.bench.statemachine import tidy
from weft.bench.throwaway import running_database, running_driver, running_weft, throwaway_home
from weft.bench.turns import Order
from weft.settings.load import FILE_NAME

JOBS = 1_000_000
RUN_SHARE = 0.01
BATCHES = 100_000
ROUNDS = 200
"""Readings of each page by HTTP; a tenth of it in Chromium."""
REST_S = 2.0
"""Pause before each submission: an open page rests after it was read again."""
WINDOW_S = 20.0
WARM_UP = 5
AT_ONCE = 8
P99 = 99
GOALS: Mapping[str, float] = {
    "first_byte_p99_ms": 30,
    "drawn_p99_ms": 400,
    "kilobytes_max": 100,
    "seen_p50_ms": 300,
    "open_pages_core": 0.05,
    "jobs_rate_ratio": 0.9,
    "log_jump_p99_ms": 100,
    "log_jump_drawn_p99_ms": 100,
    "log_memory_mb": 20,
    "help_ms": 100,
    "ls_ms": 120,
}
AT_LEAST = frozenset({"jobs_rate_ratio"})
"""The others are upper limits."""
_SHOWS = """new Promise(done => {
  const look = () => { if (document.querySelector('main').textContent.includes('NAME')) done(1); };
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true});
  look();
})"""
_LIVE = """new Promise(done => {
  const look = () => { if (document.getElementById('live').textContent === 'Live') done(1); };
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true});
  look();
})"""
_ASSET = re.compile(rf'(?:href|src)="({PREFIX}/[^"]+)"')


@dataclass(frozen=True)
class Site:
    """An api with a large installation behind it, and somebody who looks."""

    http: httpx.AsyncClient
    """With the token of a program."""
    browser: httpx.AsyncClient
    """With the session of a browser."""
    session: Session
    paths: Mapping[str, str]
    """Addresses of pages, by route."""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return how soon pages come and are drawn, their size, and what open ones cost."""
    load = load_average()
    progress.begin(9)
    figures: dict[str, Any] = {}
    conditions = machine_conditions(load_before=load, sizes={"rounds": plan.rounds_of(ROUNDS)})
    if plan.wants("site"):
        figures, conditions = await _of_site(plan, progress, load)
    figures |= await _beside(plan, progress)
    return document_of(
        Headline("ms, kB, cores, jobs/s", {name: figures.get(name) for name in GOALS}, None, None),
        {"goals": GOALS, "missed": missed(figures), **figures},
        conditions | {"chromium": find_chromium() is not None},
    )


async def _of_site(
    plan: BenchPlan, progress: BenchProgress, load: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the figures and the conditions of the large installation."""
    jobs, rounds = plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    batches = max(1, round(BATCHES * plan.scale))
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            filler = Filler(logins["weft_api"], token)
            runners = Runners(admin_dsn=logins["admin"], worker_dsn=logins["weft_worker"])
            async with running_api(home) as url, runners, filler:
                progress.step(f"submit {jobs} jobs and {batches} batches")
                large = await _fill(filler, runners, jobs, batches)
                n_run = max(1, int(jobs * RUN_SHARE))
                async with held_jobs(logins["weft_worker"], n_run):
                    await tidy(logins["admin"])
                    async with _site(url, token, large) as site:
                        figures = await _look(site, rounds, plan.scale, progress)
            sizes = {
                "jobs": jobs,
                "n_run": n_run,
                "batches": batches,
                "rounds": rounds,
                "open_pages": open_pages.OPEN_PAGES,
            }
            return figures, await conditions_of(
                logins["admin"], home.path, load_before=load, sizes=sizes
            )


def missed(figures: Mapping[str, Any]) -> list[str]:
    """Return the figures that miss their goal; those that were not measured miss none.

    >>> missed({name: 0 for name in GOALS})
    ['jobs_rate_ratio']
    """
    return [
        name
        for name, goal in GOALS.items()
        if (found := figures.get(name)) is not None
        and (found < goal if name in AT_LEAST else found > goal)
    ]


async def _look(site: Site, rounds: int, scale: float, progress: BenchProgress) -> dict[str, Any]:
    """Return the figures of the large installation."""
    progress.step("read each page")
    first_byte = {
        route: await _first_byte_ms(site.browser, path, rounds)
        for route, path in site.paths.items()
    }
    kilobytes = {route: await _kilobytes(site.browser, p) for route, p in site.paths.items()}
    progress.step("draw each page")
    drawn, seen = await _in_chromium(site, max(1, rounds // 10), progress)
    progress.step("keep pages open")
    cores = await open_pages.quiet_cores(site.session, max(1.0, WINDOW_S * scale))
    return {
        "first_byte_p99_ms": max(first_byte.values()),
        "drawn_p99_ms": max(drawn.values()) if drawn else None,
        "kilobytes_max": max(kilobytes.values()),
        "seen_p50_ms": round(percentile(seen, 50), 1) if seen else None,
        "seen_p99_ms": round(percentile(seen, P99), 1) if seen else None,
        "open_pages_core": cores,
        "first_byte_p99_ms_by_page": first_byte,
        "drawn_p99_ms_by_page": drawn,
        "kilobytes_by_page": kilobytes,
    }


async def _beside(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the figures of a whole `weft up`: rates of jobs, commands, jumps in a log."""
    rounds = plan.rounds_of(ROUNDS)
    found: dict[str, Any] = {}
    if plan.wants("jobs") or plan.wants("commands"):
        with throwaway_home(plan.directory) as home:
            async with running_weft(home) as up_pid:
                if plan.wants("jobs"):
                    progress.step("run jobs beside open pages")
                    jobs = max(1, round(open_pages.JOBS * plan.scale))
                    found |= await open_pages.rates(home, up_pid, jobs, open_pages.ROUNDS)
                if plan.wants("commands"):
                    progress.step("start commands")
                    took = await command_start.measure_commands(home, max(1, rounds // 10))
                    for name in ("help", "ls", "completion"):
                        found[f"{name}_ms"] = took[name]["wall_ms"]["median"]
    if plan.wants("log"):
        # A home of its own: commands read its settings, too.
        with throwaway_home(plan.directory) as home:
            (home.path / FILE_NAME).write_text(long_log.SETTINGS)
            async with running_weft(home) as up_pid:
                progress.step("jump in a long log")
                n_bytes = max(1_000_000, round(long_log.LOG_BYTES * plan.scale))
                found |= await long_log.measure_log(home, up_pid, n_bytes, rounds)
    return found


async def _fill(filler: Filler, runners: Runners, jobs: int, batches: int) -> int:
    """Submit a large batch and run a part of it, then many small ones; return the large one."""
    _, caller = filler.opened
    large = await filler.fill(jobs)
    await runners.run(Order(kind="weft_in_two", size=100, jobs_max=max(1, int(jobs * RUN_SHARE))))
    left = iter(range(batches))

    async def submit() -> None:
        for _ in left:
            await fill_small(filler, caller, 1, SHAPE)

    await asyncio.gather(*(submit() for _ in range(AT_ONCE)))
    return large


@contextlib.asynccontextmanager
async def _site(url: str, token: str, batch: int) -> AsyncIterator[Site]:
    """Log a browser in; pages are those of a batch, its first group and its first job."""
    known = {"b": str(batch), "j": "1", "g": "1", "p": "default"}
    paths = {}
    for route in _page_routes():
        with contextlib.suppress(KeyError):
            paths[route] = route.format_map(known)
    bearer = {"authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(base_url=url, headers=bearer, timeout=60) as http,
        httpx.AsyncClient(
            base_url=url, headers={"accept-encoding": "gzip"}, timeout=60
        ) as browser,
    ):
        session = await log_in(browser, token)
        yield Site(http, browser, session, paths)


def _page_routes() -> Iterator[str]:
    """Return the routes of pages, with the names of parameters in braces; streams are none."""
    for handler in ROUTES:
        if handler.method == "GET":
            for route in handler.path_formats:
                is_other = route.startswith(PREFIX) or route.endswith(("/live", "/events"))
                if route.startswith("/ui") and not is_other:
                    yield route


async def _first_byte_ms(browser: httpx.AsyncClient, path: str, rounds: int) -> float:
    took = []
    for number in range(WARM_UP + rounds):
        begun = perf_counter()
        async with browser.stream("GET", path) as answer:
            ms = (perf_counter() - begun) * 1000
            await answer.aread()
        if answer.is_error:
            raise BenchFailed(f"{path} was answered {answer.status_code}", detail=answer.text)
        if number >= WARM_UP:
            took.append(ms)
    return round(percentile(took, P99), 2)


async def _kilobytes(browser: httpx.AsyncClient, path: str) -> float:
    """Return what a browser that has kept nothing gets for a page, without heads."""
    page = await browser.get(path)
    answers = [page]
    answers += [await browser.get(one) for one in sorted(set(_ASSET.findall(page.text)))]
    return round(sum(one.num_bytes_downloaded for one in answers) / 1000, 1)


async def _in_chromium(
    site: Site, rounds: int, progress: BenchProgress
) -> tuple[dict[str, float], list[float]]:
    """Return when each page is drawn, and how soon an open one shows a new batch."""
    program = find_chromium()
    if program is None:
        return {}, []
    drawn: dict[str, float] = {}
    async with open_tab(program) as tab:
        await tab.log_in(site.session)
        for route, path in site.paths.items():
            took = [await tab.draw(site.session.url + path) for _ in range(1 + rounds)]
            drawn[route] = round(percentile(took[1:], P99), 1)  # the first one fills its cache
        progress.step("submit beside an open page")
        return drawn, await _seen_ms(site, tab, 1 + rounds)


async def _seen_ms(site: Site, tab: Tab, rounds: int) -> list[float]:
    """Return how long after each submission the list of batches showed it."""
    await tab.open(f"{site.session.url}/ui/batches")
    await tab.evaluate(_LIVE)
    took = []
    for number in range(rounds):
        await asyncio.sleep(REST_S)
        name = f"seen-{number}-"
        shown = asyncio.create_task(tab.evaluate(_SHOWS.replace("NAME", name)))
        await asyncio.sleep(0)
        begun = perf_counter()
        await site.http.post("/v1/batches", json={"name": name, "jobs": [{}]})
        await shown
        took.append((perf_counter() - begun) * 1000)
    return took
