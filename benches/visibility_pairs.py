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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import gt, truediv
from statistics import median
from typing import Any, Final

from benches.other_tenant import OtherTenant
from benches.route_bodies import MAKING, QUERIES, body_of
from benches.running_api import running_api
from benches.wire import US_PER_S, Wire, bearing, request_of
from weft.api.app import route_rights
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.core.access.rights import Right
from weft.run.doors import api_doors
from weft.run.home import Home
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
OURS: Final = "every"
THEIRS: Final = "other"
NEVER: Final = "never"
"""What names of things begin with that do not exist; all three are equally long."""
MISSING: Final = 2_000_000_000
GOAL: Final = 0.05
"""How far from 1 the ratio may be."""
VERDICTS: Final = ("within", "beyond", "undecided")
LOCAL: Final = frozenset({"a", "g", "j", "n", "u", "container", "payloads/{s}"})
"""Parameters that count within a batch."""


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
        async with running_database(home) as (logins, token), running_api(home) as url:
            theirs, ours = (OtherTenant(word, url, token) for word in (THEIRS, OURS))
            async with running_driver(home):
                await theirs.fill(logins["weft_worker"], [])
                await ours.fill(logins["weft_worker"], [theirs])
            asked = list(_pairs(ours, theirs))
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


def _pairs(ours: OtherTenant, theirs: OtherTenant) -> Iterator[Pair]:
    """Yield a pair for each parameter of each route that names a thing by itself. Those of
    administrators of the site are refused before anything is looked for.
    """
    rights = route_rights(api_doors())
    routes = sorted(
        route for route, right in rights.items() if right not in {None, Right.ADMINISTER}
    )
    for route in routes:
        if route not in MAKING:
            yield from _pairs_of(route, ours, theirs)
    for method, path, parameter, document in NAMED:
        sent = []
        for value in (theirs.ids[parameter], _missing(theirs.ids[parameter])):
            text = "" if document is None else json.dumps(document)
            body = text.replace('"<>"', json.dumps(value)).encode()
            kind = "application/json" if body else ""
            sent.append(_request(ours, method, path.replace("<>", str(value)), body, kind))
        yield Pair(f"{method} {path}", parameter, sent[0], sent[1])
    for route in sorted(MAKING):
        yield from _pairs_of(route, ours, theirs)


def _pairs_of(route: str, ours: OtherTenant, theirs: OtherTenant) -> Iterator[Pair]:
    method, _, path = route.partition(" ")
    names = list(_names_in(path, theirs.ids))
    body, kind = body_of(route)
    query = f"?{QUERIES[route]}" if route in QUERIES else ""
    for position, name in enumerate(names):
        if name in LOCAL:
            continue
        sent = []
        for value in (theirs.ids[name], _missing(theirs.ids[name])):
            values = [value if n == position else ours.ids[one] for n, one in enumerate(names)]
            target = re.sub(r"\{\w+\}", "{}", path).format(*values) + query
            sent.append(_request(ours, method, target, body, kind))
        yield Pair(route, name, sent[0], sent[1])


NAMED: Final[tuple[tuple[str, str, str, Any], ...]] = (
    ("POST", "/v1/batches", "p", {"billing_project": "<>"}),
    ("POST", "/v1/batches", "q", {"jobs": [{"queue": "<>"}]}),
    ("POST", "/v1/batches", "secret",
     {"jobs": [{"command": ["true"], "secrets": [{"name": "<>", "env": "A"}]}]}),
    ("POST", "/v1/batch-actions", "b", {"action": "cancel", "batches": ["<>"]}),
    ("POST", "/v1/schedules", "p",
     {"cron": "0 2 * * *", "document": {"billing_project": "<>", "jobs": [{}]}}),
    ("POST", "/v1/queue-reroute", "q", {"to": "<>"}),
    *(("GET", f"/v1/{one}?batch=<>", "b", None)
      for one in ("events", "operations", "dead-letters", "trail")),
    ("GET", "/v1/batches?q=user%20%3D%20<>", "user", None),
    ("GET", "/v1/batches?q=billing_project%20%3D%20<>", "p", None),
)  # fmt: skip
"""Requests that name a thing elsewhere than in the path: as `<>`."""


def _names_in(path: str, ids: Mapping[str, Any]) -> Iterator[str]:
    for before, name in re.findall(r"([\w-]*)\}?/\{(\w+)\}", path):
        found = whole if (whole := f"{before}/{{{name}}}") in ids else name
        if found not in ids:
            raise BenchFailed(
                f"nothing is made for {{{name}}} of {path}",
                hint="Let `benches.other_tenant` make one.",
            )
        yield found


def _missing(value: str | int) -> str | int:
    return MISSING if isinstance(value, int) else value.replace(THEIRS, NEVER)


def _request(caller: OtherTenant, method: str, target: str, body: bytes, kind: str) -> bytes:
    media = (f"content-type: {kind}",) if kind else ()
    headers = (bearing(caller.token), *media)
    return request_of(caller.url, method, target, headers=headers, body=body)


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
    for number in range(WARM_UP + pairs):
        turns = [
            (pair.exists, pair.exists_us, pair.exists_cpu_us),
            (pair.missing, pair.missing_us, pair.missing_cpu_us),
        ]
        random.shuffle(turns)
        for request, times, cpu_times in turns:
            begun_us = clock.read_us()
            status, took_us = wire.ask(request)
            pair.statuses.add(status)
            if number >= WARM_UP:
                times.append(took_us)
                cpu_times.append(clock.read_us() - begun_us)
    if len(pair.statuses) > 1:
        raise BenchFailed(
            f"{pair.route} tells what exists",
            detail=f"It is answered with {sorted(pair.statuses)}.",
        )
