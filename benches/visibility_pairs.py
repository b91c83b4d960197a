"""Does the time of a refusal tell whether the thing exists in another tenant?

Each route of the api that takes an id, and each body and query that names a thing, is asked for
what another tenant has and for what does not exist, one right after the other, over one
connection. Which of the two comes first is drawn by lot for each pair. What changes something is
refused, so it changes nothing.

The figure of a route is the median of the ratios of its pairs. What else the machine does lasts
longer than a pair, as a rule, and so changes both times alike; the ratio of the two medians would
move with it. If nothing tells what exists, only the lot decides which time of a pair is that of
what exists: whether the ratio is above 1 is the toss of a fair coin. The ends of the interval are
two of the ratios in their order, as many below and above as only one of a thousand tosses of all
coins would miss. So it assumes nothing about the times, nor about how they follow each other.

A route is decided when its interval lies within the goal. The others are asked further; all their
pairs count. On a busy machine time may be up before all pairs are made: `pairs` counts them.
"""

import asyncio
import gc
import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import gt, truediv
from statistics import median
from typing import Any, Final
from uuid import UUID

import asyncpg
import httpx

from api.full_tenant import FullTenant, fill
from api.hidden_pairs import LOCAL, SKIPPED, naming
from api.live import LiveApi
from benches.route_bodies import MAKING, QUERIES, body_of
from benches.running_api import running_api
from benches.wire import US_PER_S, Wire, request_of
from weft.api.app import route_rights
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import running_database, throwaway_home
from weft.run.doors import api_doors
from weft.run.home import Home
from weft.settings import Settings
from weft.settings.load import FILE_NAME
from weft.store.embedded.leftovers import server_pids
from weft.wire.sealed import new_key

PAIRS: Final = 1000
WARM_UP: Final = 10
PASSES: Final = 4
"""The pairs of a route come in this number of passes: a disturbance hits few of them."""
PASSES_MAX: Final = 16
"""Those of a route that is not within the goal: a busy machine may be why."""
AGAIN_UNTIL_S: Final = 840.0
"""So long after the beginning no route is measured again."""
SPREAD: Final = 3.29
"""So many standard deviations from the mean lies one of a thousand tosses of many coins."""
OURS: Final = ("every", 300_000)
THEIRS: Final = ("other", 700_000)
"""What names of a tenant's things begin with, and where their numbers begin."""
NEVER: Final = "never"
"""What names of things begin with that do not exist; all three are equally long."""
MISSING: Final = 987_654
_UUID: Final = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What ids of jobs of Agave begin with."""
GOAL: Final = 0.05
"""How far from 1 the ratio may be."""
VERDICTS: Final = ("within", "beyond", "undecided")


class _Site(LiveApi):
    """The api that is measured, which runs elsewhere, as the walks of the tests ask it."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__("", Settings())
        self.port = int(url.rpartition(":")[2])
        self._token = token

    def client(self, **headers: str) -> httpx.AsyncClient:
        return super().client(**{"authorization": f"Bearer {self._token}", **headers})


@dataclass
class Pair:
    """Two requests that differ in what they name, and how long their answers took."""

    route: str
    parameter: str
    exists: bytes
    missing: bytes
    exists_us: list[float] = field(default_factory=list)
    missing_us: list[float] = field(default_factory=list)
    exists_cpu_us: list[float] = field(default_factory=list)
    missing_cpu_us: list[float] = field(default_factory=list)
    statuses: set[int] = field(default_factory=set)

    @property
    def found(self) -> "Interval":
        """Return how many times longer the answer takes if the thing exists."""
        return interval_of(list(map(truediv, self.exists_us, self.missing_us)))

    def row(self) -> dict[str, Any]:
        """Return what was measured."""
        longer = sum(map(gt, self.exists_us, self.missing_us))
        exists, missing = median(self.exists_us), median(self.missing_us)
        exists_cpu, missing_cpu = median(self.exists_cpu_us), median(self.missing_cpu_us)
        (status,) = self.statuses
        return {
            "route": self.route,
            "parameter": self.parameter,
            "status": status,
            **self.found.row(),
            "pairs": len(self.exists_us),
            "longer": round(longer / len(self.exists_us), 3),
            "exists": round(exists, 1),
            "missing": round(missing, 1),
            "ratio_of_medians": ratio_of(exists, missing),
            "exists_cpu": round(exists_cpu, 1),
            "missing_cpu": round(missing_cpu, 1),
            "cpu_ratio": ratio_of(exists_cpu, missing_cpu),
        }


@dataclass(frozen=True)
class Interval:
    """A median, and between which values that of endless pairs would be."""

    middle: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Say whether it tells what exists."""
        if max(abs(1 - self.low), abs(1 - self.high)) <= GOAL:
            return "within"
        return "beyond" if self.low > 1 + GOAL or self.high < 1 - GOAL else "undecided"

    def row(self) -> dict[str, Any]:
        """Return it with its verdict."""
        return {
            "ratio": round(self.middle, 3),
            "interval": [round(self.low, 3), round(self.high, 3)],
            "verdict": self.verdict,
        }


def interval_of(ratios: Sequence[float]) -> Interval:
    """Return the median of ratios with its interval, by the ranks of `SPREAD`.

    >>> interval_of([1.0] * 50 + [1.02] * 50).verdict
    'within'
    >>> interval_of([1.2] * 20).verdict
    'beyond'
    >>> interval_of([0.5, 1.5]).verdict
    'undecided'
    """
    ordered = sorted(ratios)
    count = len(ordered)
    rank = math.floor((count - SPREAD * math.sqrt(count)) / 2)
    if rank < 0:  # too few to show anything
        return Interval(median(ordered), 0.0, math.inf)
    return Interval(median(ordered), ordered[rank], ordered[count - 1 - rank])


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the medians of both in microseconds, for each route and parameter."""
    load, pairs, passes = load_average(), plan.jobs_of(PAIRS), plan.rounds_of(PASSES_MAX)
    with throwaway_home(plan.directory) as home:
        home.keep_secret_keys([new_key()])
        (home.path / FILE_NAME).write_text('source_paths = "/"\n')
        async with running_database(home) as (logins, token), running_api(home) as url:
            site, admin = _Site(url, token), await asyncpg.connect(logins["admin"])
            theirs, ours = [
                await fill(site, logins, admin, home.path / "logs", word=word, first=first)
                for word, first in (THEIRS, OURS)
            ]
            await admin.close()
            asked = list(_pairs(url, ours, theirs))
            begun = time.monotonic()
            with Wire(url) as wire:
                parts = [math.ceil(pairs / PASSES)] * passes
                await asyncio.to_thread(_compare_all, wire, home, asked, parts, progress)
            took_s = time.monotonic() - begun
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes={"pairs": pairs}
            )
    rows = sorted((pair.row() for pair in asked), key=lambda row: -abs(1 - row["ratio"]))
    farthest, *_ = rows
    verdicts = Counter(row["verdict"] for row in rows)
    return document_of(
        Headline("us", farthest["exists"], farthest["missing"], farthest["ratio"]),
        {
            "goal": f"within {GOAL:.0%} of 1",
            "farthest": f"{farthest['route']}, {farthest['parameter']}",
            **{verdict: verdicts[verdict] for verdict in VERDICTS},
            "medians_beyond": sum(abs(1 - row["ratio_of_medians"]) > GOAL for row in rows),
            "took_s": round(took_s),
            "not_within": [
                f"{row['route']}, {row['parameter']}: {row['interval'][0]} to {row['interval'][1]}"
                for row in rows
                if row["verdict"] != "within"
            ],
            "routes": rows,
        },
        conditions,
    )


def _pairs(url: str, ours: FullTenant, theirs: FullTenant) -> Iterator[Pair]:
    """Yield a pair for each parameter of each route that names a thing by itself, and for each
    body and query that does.
    """
    routes = sorted(route_rights(api_doors()).keys() - SKIPPED.keys())
    for route in routes:
        if route not in MAKING:
            yield from _pairs_of(url, route, ours, theirs)
    for method, path, document, value in naming(theirs):
        sent = []
        for one in (value, _missing(value)):
            text = "" if document is None else json.dumps(document)
            body = text.replace('"<>"', json.dumps(one)).encode()
            kind = "application/json" if body else ""
            sent.append(_request(url, ours, method, path.replace("<>", str(one)), body, kind))
        name = "b" if value == theirs.batch else str(value)
        yield Pair(f"{method} {path}", name, sent[0], sent[1])
    for route in routes:
        if route in MAKING:
            yield from _pairs_of(url, route, ours, theirs)


def _pairs_of(url: str, route: str, ours: FullTenant, theirs: FullTenant) -> Iterator[Pair]:
    method, _, path = route.partition(" ")
    names = theirs.ids.names(path)
    body, kind = body_of(route)
    query = f"?{QUERIES[route]}" if route in QUERIES else ""
    for position, name in enumerate(names):
        if name in LOCAL:
            continue
        sent = []
        for value in (theirs.ids[name], _missing(theirs.ids[name])):
            values = [value if n == position else ours.ids[one] for n, one in enumerate(names)]
            target = re.sub(r"\{\w+\}", "{}", path).format(*values) + query
            sent.append(_request(url, ours, method, target, body, kind))
        yield Pair(route, name, sent[0], sent[1])


def _missing(value: str | int | UUID) -> str | int | UUID:
    """Return what does not exist, as long as what does."""
    if isinstance(value, int):
        return MISSING
    if isinstance(value, UUID):
        return UUID(int=MISSING)
    missing = _UUID.sub(str(UUID(int=MISSING)), value.replace(THEIRS[0], NEVER), count=1)
    if missing == value:
        raise BenchFailed(f"{value} does not say whose it is")
    return missing


def _request(
    url: str, caller: FullTenant, method: str, target: str, body: bytes, kind: str
) -> bytes:
    media = (f"content-type: {kind}",) if kind else ()
    headers = (f"authorization: {caller.header['authorization']}", *media)
    return request_of(url, method, target, headers=headers, body=body)


class _ServerClock:
    """The time that the processors have spent on the api and the database, which does not depend
    on who else uses them.
    """

    def __init__(self, home: Home) -> None:
        pids = [home.ready("api")["pid"], *server_pids(home.path / "pg")]
        # As MAKE_PROCESS_CPUCLOCK of the kernel numbers the clocks of other processes.
        self._clocks = [~pid << 3 | 2 for pid in pids]

    def read_us(self) -> float:
        """Return it, in microseconds. What has ended counts no more, which spoils one pair."""
        found = 0.0
        for clock in list(self._clocks):
            try:
                found += time.clock_gettime(clock)
            except OSError:
                self._clocks.remove(clock)
        return found * US_PER_S


def _compare_all(
    wire: Wire, home: Home, asked: Sequence[Pair], parts: Sequence[int], progress: BenchProgress
) -> None:
    """Ask for all of them, those that make what they name last. `parts`: how many pairs of each
    come in each pass.
    """
    clock = _ServerClock(home)
    progress.begin(min(PASSES, len(parts)) * len(asked))
    again_until = time.monotonic() + AGAIN_UNTIL_S
    gc.disable()
    try:
        for is_making in (False, True):
            left = [pair for pair in asked if (pair.route in MAKING) == is_making]
            for number, pairs in enumerate(parts, 1):
                for pair in left:
                    if number == 1 or time.monotonic() < again_until:
                        progress.step(pair.route)
                        _compare(wire, clock, pair, pairs)
                if number >= PASSES:
                    left = [pair for pair in left if pair.found.verdict != "within"]
    finally:
        gc.enable()


def _compare(wire: Wire, clock: _ServerClock, pair: Pair, pairs: int) -> None:
    """Ask for both, the first one by lot, this number of times."""
    warm_up = min(WARM_UP, pairs)
    for number in range(warm_up + pairs):
        turns = [
            (pair.exists, pair.exists_us, pair.exists_cpu_us),
            (pair.missing, pair.missing_us, pair.missing_cpu_us),
        ]
        random.shuffle(turns)
        for request, times, cpu_times in turns:
            begun_us = clock.read_us()
            status, took_us = wire.ask(request)
            pair.statuses.add(status)
            if number >= warm_up:
                times.append(took_us)
                cpu_times.append(clock.read_us() - begun_us)
    if len(pair.statuses) > 1:
        raise BenchFailed(
            f"{pair.route} tells what exists",
            detail=f"It is answered with {sorted(pair.statuses)}.",
        )
