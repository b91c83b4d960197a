"""Does the time of a refusal tell whether the thing exists in another tenant?

Each route of the api that takes an id, and each body and query that names a thing, is asked for
what another tenant has beside what does not exist, in turns, over one connection, so that whatever
else the machine does hits both alike. What changes something is refused, so it changes nothing.
The ratio is the one of the medians that is farthest from 1.
"""

import asyncio
import json
import re
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from operator import gt
from statistics import median
from typing import Any, Final, Self
from urllib.parse import urlsplit

from weft.api.app import route_rights
from weft.bench.conditions import conditions_of, load_average
from weft.bench.figures import ratio_of
from weft.bench.other_tenant import OtherTenant
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.route_bodies import MAKING, QUERIES, body_of
from weft.bench.throwaway import running_api, running_database, running_driver, throwaway_home
from weft.core.rights import Right
from weft.run.home import Home
from weft.store.embedded.leftovers import server_pids
from weft.wire.sealed import new_key

PAIRS: Final = 1000
WARM_UP: Final = 10
TRIES: Final = 3
"""How often a route is measured whose ratio is beyond the goal: a busy machine may be why."""
OURS: Final = "every"
THEIRS: Final = "other"
NEVER: Final = "never"
"""What names of things begin with that do not exist; all three are equally long."""
MISSING: Final = 2_000_000_000
GOAL: Final = 0.05
"""How far from 1 the ratio may be."""
LOCAL: Final = frozenset({"a", "g", "j", "n", "u", "container", "payloads/{s}"})
"""Parameters that count within a batch."""
_US_PER_S: Final = 1e6
_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"content-length: (\d+)")
_CHUNK: Final = 1 << 16
_CLIENT_ERRORS: Final = range(400, 500)
_NOT_FOUND: Final = 404


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
    def ratio(self) -> float:
        """Return how much longer the answer takes if the thing exists."""
        return ratio_of(median(self.exists_us), median(self.missing_us))

    @property
    def is_beyond(self) -> bool:
        """Say whether it tells what exists, as far as is known by now."""
        return abs(1 - self.ratio) > GOAL

    def row(self) -> dict[str, Any]:
        """Return what was measured."""
        longer = sum(map(gt, self.exists_us, self.missing_us))
        exists_cpu, missing_cpu = median(self.exists_cpu_us), median(self.missing_cpu_us)
        (status,) = self.statuses
        return {
            "route": self.route,
            "parameter": self.parameter,
            "status": status,
            "exists": round(median(self.exists_us), 1),
            "missing": round(median(self.missing_us), 1),
            "ratio": self.ratio,
            "pairs": len(self.exists_us),
            "longer": round(longer / len(self.exists_us), 3),
            "exists_cpu": round(exists_cpu, 1),
            "missing_cpu": round(missing_cpu, 1),
            "cpu_ratio": ratio_of(exists_cpu, missing_cpu),
        }


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the medians of both in microseconds, for each route and parameter."""
    load, pairs = load_average(), plan.jobs_of(PAIRS)
    with throwaway_home(plan.directory) as home:
        home.keep_secret_keys([new_key()])
        async with running_database(home) as (logins, token), running_api(home) as url:
            theirs, ours = (OtherTenant(word, url, token) for word in (THEIRS, OURS))
            async with running_driver(home):
                await theirs.fill(logins["weft_worker"], [])
                await ours.fill(logins["weft_worker"], [theirs])
            asked = list(_pairs(ours, theirs))
            progress.begin(len(asked))
            with _Wire(url) as wire:
                for pair in asked:
                    progress.step(pair.route)
                    for _ in range(TRIES):
                        await asyncio.to_thread(_compare, wire, home, pair, pairs)
                        if not pair.is_beyond:
                            break
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes={"pairs": pairs}
            )
    rows = sorted((pair.row() for pair in asked), key=lambda row: -abs(1 - row["ratio"]))
    farthest, *_ = rows
    return {
        "unit": "us",
        "weft": farthest["exists"],
        "reference": farthest["missing"],
        "ratio": farthest["ratio"],
        "goal": f"within {GOAL:.0%} of 1",
        "farthest": f"{farthest['route']}, {farthest['parameter']}",
        "beyond": sum(pair.is_beyond for pair in asked),
        "routes": rows,
        "conditions": conditions,
    }


def _pairs(ours: OtherTenant, theirs: OtherTenant) -> Iterator[Pair]:
    """Yield a pair for each parameter of each route that names a thing by itself. Those of
    administrators of the site are refused before anything is looked for.
    """
    routes = sorted(
        route for route, right in route_rights().items() if right not in {None, Right.ADMINISTER}
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
                hint="Let `weft.bench.other_tenant` make one.",
            )
        yield found


def _missing(value: str | int) -> str | int:
    return MISSING if isinstance(value, int) else value.replace(THEIRS, NEVER)


def _request(caller: OtherTenant, method: str, target: str, body: bytes, kind: str) -> bytes:
    lines = [
        f"{method} {target} HTTP/1.1",
        f"host: {urlsplit(caller.url).netloc}",
        f"authorization: Bearer {caller.token}",
        *([f"content-type: {kind}", f"content-length: {len(body)}"] if kind else []),
    ]
    return "\r\n".join(lines).encode() + _END + body


class _Wire:
    """A connection that sends what is prepared, so that little of the time is the client's."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = (str(parts.hostname), parts.port or 80)
        self._socket = self._connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, request: bytes) -> tuple[int, float]:
        """Return the status of the answer, and how many microseconds it took."""
        begun = time.perf_counter()
        self._socket.sendall(request)
        head, body = self._head()
        length = _LENGTH.search(head)
        if length is None:
            raise BenchFailed("a stream was answered", detail=f"{request!r}\n{head!r}")
        left = int(length[1]) - len(body)
        while left > 0:
            left -= len(self._receive())
        took_us = (time.perf_counter() - begun) * _US_PER_S
        if b"\r\nconnection: close" in head:
            self._socket.close()
            self._socket = self._connect()
        return int(head.split(b" ", 2)[1]), took_us

    def _head(self) -> tuple[bytes, bytes]:
        data = b""
        while _END not in data:
            data += self._receive()
        head, _, body = data.partition(_END)
        return head.lower(), body

    def _receive(self) -> bytes:
        data = self._socket.recv(_CHUNK)
        if not data:
            raise BenchFailed("the api closed the connection")
        return data

    def _connect(self) -> socket.socket:
        made = socket.create_connection(self._address, timeout=60)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made


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
        return found * _US_PER_S


def _compare(wire: _Wire, home: Home, pair: Pair, pairs: int) -> None:
    """Ask for both in turns."""
    clock = _ServerClock(home)
    for number in range(WARM_UP + pairs):
        turns = [
            (pair.exists, pair.exists_us, pair.exists_cpu_us),
            (pair.missing, pair.missing_us, pair.missing_cpu_us),
        ]
        for request, times, cpu_times in turns if number % 2 else reversed(turns):
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
