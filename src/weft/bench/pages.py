"""What it costs to look: every page of a large installation, by HTTP and in Chromium.

A batch of 1,000,000 jobs, of which some have run, and 100,000 small ones. Each page whose address
needs no more than a batch, a job or a billing project is read over one open connection, one after
the other; then it is opened in Chromium, if there is one on the PATH, with its parts in its cache,
until it is drawn. Then batches are submitted beside an open page, until it shows them. At last
200 streams of events stay open, as 200 pages would keep them.
"""

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from litestar.handlers import HTTPRouteHandler

from weft.api.html.assets import PREFIX
from weft.api.pages import ROUTES
from weft.bench.chromium import Tab, find_chromium, open_tab
from weft.bench.conditions import conditions_of, load_average
from weft.bench.figures import percentile
from weft.bench.filled_batch import SHAPE, Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.process_tree import cpu_s_below
from weft.bench.runners import Runners
from weft.bench.statemachine import tidy
from weft.bench.throwaway import running_api, running_database, running_driver, throwaway_home
from weft.bench.turns import Order
from weft.run.home import Home

JOBS = 1_000_000
RUN_SHARE = 0.01
BATCHES = 100_000
ROUNDS = 200
"""Readings of each page by HTTP; a tenth of it in Chromium."""
REST_S = 2.0
"""An open page rests twenty times as long as its last reading took."""
OPEN_PAGES = 200
WINDOW_S = 20.0
WARM_UP = 5
AT_ONCE = 8
P99 = 99
COOKIE = "weft_session"
_DRAWN = """new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
    () => done(performance.now()))))"""
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
    paths: Mapping[str, str]
    """Addresses of pages, by route."""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return how soon pages come and are drawn, their size, and what open ones cost."""
    load, jobs = load_average(), plan.jobs_of(JOBS)
    batches, rounds = max(1, round(BATCHES * plan.scale)), plan.rounds_of(ROUNDS)
    progress.begin(6)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            filler = Filler(logins["weft_api"], token)
            runners = Runners(admin_dsn=logins["admin"], worker_dsn=logins["weft_worker"])
            async with running_api(home) as url, runners, filler:
                progress.step(f"submit {jobs} jobs and {batches} batches")
                large = await _fill(filler, runners, jobs, batches)
                await tidy(logins["admin"])
                async with _site(url, token, large) as site:
                    figures = await _look(site, rounds, plan.scale, progress)
            conditions = await _conditions(home, load, jobs, batches, rounds)
    return {
        "unit": "ms, kB, % of a core",
        "weft": {name: value for name, value in figures.items() if not isinstance(value, dict)},
        "reference": None,
        "ratio": None,
        **figures,
        "conditions": conditions,
    }


async def _look(site: Site, rounds: int, scale: float, progress: BenchProgress) -> dict[str, Any]:
    """Return all figures."""
    progress.step("read each page")
    first_byte = {
        route: await _first_byte_ms(site.browser, path, rounds)
        for route, path in site.paths.items()
    }
    kilobytes = {route: await _kilobytes(site.browser, p) for route, p in site.paths.items()}
    progress.step("draw each page")
    drawn, seen = await _in_chromium(site, max(1, rounds // 10), progress)
    progress.step("keep pages open")
    cpu = await _cpu_percent(site, max(1.0, WINDOW_S * scale))
    return {
        "first_byte_p99_ms": max(first_byte.values()),
        "drawn_p99_ms": max(drawn.values()) if drawn else None,
        "kilobytes_max": max(kilobytes.values()),
        "seen_p50_ms": round(percentile(seen, 50), 1) if seen else None,
        "seen_p99_ms": round(percentile(seen, P99), 1) if seen else None,
        "open_pages_cpu_percent": cpu,
        "first_byte_p99_ms_by_page": first_byte,
        "drawn_p99_ms_by_page": drawn,
        "kilobytes_by_page": kilobytes,
    }


async def _fill(filler: Filler, runners: Runners, jobs: int, batches: int) -> int:
    """Submit a large batch and run a part of it, then many small ones; return the large one."""
    _, caller = filler.opened
    large = await filler.fill(jobs)
    await runners.run(Order(kind="weft_in_two", size=100, jobs_max=max(1, int(jobs * RUN_SHARE))))
    left = iter(range(batches))

    async def submit() -> None:
        for _ in left:
            await filler.fill_small(caller, 1, SHAPE)

    await asyncio.gather(*(submit() for _ in range(AT_ONCE)))
    return large


@contextlib.asynccontextmanager
async def _site(url: str, token: str, batch: int) -> AsyncIterator[Site]:
    """Log a browser in; pages are those of a batch and its first job."""
    known = {"b": str(batch), "j": "1", "p": "default"}
    paths = {}
    for route in _page_routes():
        with contextlib.suppress(KeyError):
            paths[route] = route.format_map(known)
    bearer = {"authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(base_url=url, headers=bearer, timeout=60) as http,
        httpx.AsyncClient(
            base_url=url, headers={"origin": url, "accept-encoding": "gzip"}, timeout=60,
            limits=httpx.Limits(max_connections=None),
        ) as browser,
    ):  # fmt: skip
        link = (await http.post("/v1/login-links", json={})).json()["url"]
        await browser.post("/login", data={"code": parse_qs(urlsplit(link).query)["code"][0]})
        yield Site(http, browser, paths)


def _page_routes() -> Iterator[str]:
    """Return the routes of pages, with the names of parameters in braces."""
    for handler in ROUTES:
        if isinstance(handler, HTTPRouteHandler) and "GET" in handler.http_methods:
            for path in handler.paths:
                route = "/" + re.sub(r":\w+}", "}", path).lstrip("/")
                if route.startswith("/ui") and not route.startswith(PREFIX):
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
    url = str(site.browser.base_url).rstrip("/")
    async with open_tab(program) as tab:
        await tab.call(
            "Network.setCookie", name=COOKIE, value=site.browser.cookies[COOKIE], url=url
        )
        for route, path in site.paths.items():
            took = []
            for number in range(1 + rounds):
                await tab.open(f"{url}{path}")
                ms = await tab.evaluate(_DRAWN)
                if number:  # the first one fills its cache
                    took.append(ms)
            drawn[route] = round(percentile(took, P99), 1)
        progress.step("submit beside an open page")
        return drawn, await _seen_ms(site, tab, url, 1 + rounds)


async def _seen_ms(site: Site, tab: Tab, url: str, rounds: int) -> list[float]:
    """Return how long after each submission the list of batches showed it."""
    await tab.open(f"{url}/ui/batches")
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


async def _cpu_percent(site: Site, window_s: float) -> float:
    """Return how much of a core 200 open pages take beside none while nothing happens."""

    async def used() -> float:
        begin = cpu_s_below(os.getpid())
        await asyncio.sleep(window_s)
        return cpu_s_below(os.getpid()) - begin

    before = await used()
    async with contextlib.AsyncExitStack() as pages:
        for _ in range(OPEN_PAGES):
            await pages.enter_async_context(site.browser.stream("GET", "/v1/events"))
        beside = await used()
    return round(100 * (beside - before) / window_s, 2)


async def _conditions(
    home: Home, load: float, jobs: int, batches: int, rounds: int
) -> dict[str, Any]:
    sizes = {"jobs": jobs, "batches": batches, "rounds": rounds, "open_pages": OPEN_PAGES}
    admin = home.secrets()["admin"]
    found = await conditions_of(admin, home.path, load_before=load, sizes=sizes)
    return found | {"chromium": find_chromium() is not None}
