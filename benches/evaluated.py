"""Whether a text that a tenant has evaluated slows down another tenant.

Every text field of every document of the api, found from their types, and every text of a
production line, found from its guide, is sent with each hostile text of `benches/hostile.py` once.
What takes long then is what evaluates it. Each of these is sent again in a loop, while a user of
another tenant reads; in turns with windows in which nobody else does anything.
"""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx

from api.fakes import RecordingStore, SilentNotices
from benches.hostile import (
    HOSTILE,
    Field,
    Request,
    fields_of_documents,
    fields_of_lines,
    jobs_of_an_app,
    jobs_under_guards,
)
from benches.running_api import running_api
from benches.windows import Times, ratio_of_windows
from benches.wire import US_PER_S, Wire, bearing, request_of
from weft.api.app import create_app
from weft.bench.figures import Headline, conditions_of, document_of, load_average, percentile
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.client.api import Api
from weft.settings import Settings

ROUNDS: Final = 6
WINDOW_S: Final = 2.0
WINDOW_MIN_S: Final = 0.5
SENDERS: Final = 4
PER_S: Final = 20
"""So many hostile requests of all senders: more would be a storm, which a limit of rate is for."""
LONG_S: Final = 0.05
"""What takes so long evaluates: all else is refused or kept within a few milliseconds."""
PAUSE_S: Final = 0.002
GOAL: Final = 1.5
NOTHING: Final = "nothing (chance)"
ANSWER_S: Final = 120.0
NO_ANSWER: Final = 500


class Loop(NamedTuple):
    """What is sent again and again."""

    name: str
    request: Request | None


class _Nuisance:
    """A tenant that sends hostile texts."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def send(self, request: Request) -> tuple[int, float]:
        """Return the status, and how many seconds the answer took."""
        kind = "application/json" if request.body[:1] in b"{[" else "application/octet-stream"
        begun = time.perf_counter()
        answer = await self._http.request(
            request.method, request.path, content=request.body, headers={"content-type": kind}
        )
        return answer.status_code, time.perf_counter() - begun

    @asynccontextmanager
    async def sending(self, request: Request | None) -> AsyncIterator[None]:
        """Send it all the while."""
        senders = SENDERS if request is not None else 0
        tasks = [asyncio.create_task(self._send_on(request)) for _ in range(senders)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send_on(self, request: Request | None) -> None:
        assert request is not None
        while True:
            _, took_s = await self.send(request)
            await asyncio.sleep(max(0.0, SENDERS / PER_S - took_s))

    async def costly(self, field: Field) -> Loop | None:
        """Return the field with the text that takes longest there, if that is long each time: once
        may be the machine.
        """
        took = {text: (await self.send(field.holding(HOSTILE[text])))[1] for text in HOSTILE}
        text = max(took, key=lambda one: took[one])
        if took[text] < LONG_S:
            return None
        request = field.holding(HOSTILE[text])
        again = [await self.send(request) for _ in range(2)]
        if any(status == NO_ANSWER for status, _ in again):
            raise BenchFailed(f"{field.name} with the text {text!r} is a mistake of the server's")
        is_long = min(took_s for _, took_s in again) >= LONG_S
        return Loop(f"{field.name}: {text}", request) if is_long else None


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the 99th percentiles of a user's reads beside each evaluated text and without it."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    window_s = max(WINDOW_S * plan.scale, WINDOW_MIN_S)
    with throwaway_home(plan.directory) as home:
        async with (
            running_database(home) as (logins, token),
            running_driver(home),
            running_api(home) as url,
            Api(url, token, home=home.path) as site,
        ):
            hostile, other = [
                await site.create_tenant(name, admin="ann") for name in ("hostile", "other")
            ]
            reads = await _reads(url, other["token"], home.path)
            fields = _fields(home.path)
            async with httpx.AsyncClient(
                base_url=url,
                timeout=ANSWER_S,
                headers={"authorization": f"Bearer {hostile['token']}"},
            ) as http:
                nuisance = _Nuisance(http)
                progress.begin(len(fields))
                loops = await _loops(nuisance, fields, progress)
                progress.begin(len(loops) * rounds)
                rows = [
                    await _row(nuisance, one, url, reads, rounds, window_s, progress)
                    for one in loops
                ]
            sizes = {"fields": len(fields), "rounds": rounds, "window_s": window_s}
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes=sizes
            )
    worst = max((row for row in rows if row["field"] != NOTHING), key=lambda row: row["ratio"])
    return document_of(
        Headline("ms", worst["p99_ms"], worst["alone_p99_ms"], worst["ratio"]),
        {"goal": f"at most {GOAL}", "fields": rows},
        conditions,
    )


def _fields(home: Path) -> Sequence[Field]:
    """Return all fields that take a text."""
    app = create_app(RecordingStore(), SilentNotices(), None, Settings(home=home))  # type: ignore[arg-type]  # doubles: only its routes are read
    found = [*fields_of_documents(app), *fields_of_lines()]
    # What ends the token or the user with which all else is sent says nothing.
    return [one for one in found if one.request.method != "DELETE"]


async def _reads(url: str, token: str, home: Path) -> Sequence[bytes]:
    """Return what the user of another tenant asks."""
    async with Api(url, token, home=home) as client:
        batch_id = (await client.create_batch({"jobs": [{}]}))["id"]
    paths = (f"/v1/batches/{batch_id}", "/v1/batches", f"/v1/batches/{batch_id}/jobs/1")
    return [request_of(url, "GET", path, headers=(bearing(token),)) for path in paths]


async def _loops(
    nuisance: _Nuisance, fields: Sequence[Field], progress: BenchProgress
) -> Sequence[Loop]:
    found = [Loop(NOTHING, None)]
    for one in fields:
        progress.step(one.name)
        if loop := await nuisance.costly(one):
            found.append(loop)
    for name, (before, request) in {
        "jobs under a guard": jobs_under_guards(),
        "jobs of an application": jobs_of_an_app(),
    }.items():
        for made in before:
            status, _ = await nuisance.send(made)
            if status >= 400:  # noqa: PLR2004 (an error)
                raise BenchFailed(
                    f"{made.method} {made.path} was answered {status}", detail=str(made.body)
                )
        found.append(Loop(name, request))
    return found


async def _row(
    nuisance: _Nuisance,
    loop: Loop,
    url: str,
    reads: Sequence[bytes],
    rounds: int,
    window_s: float,
    progress: BenchProgress,
) -> dict[str, Any]:
    """Measure beside a loop and alone, in turns."""
    beside: list[Sequence[float]] = []
    alone: list[Sequence[float]] = []
    for number in range(1, rounds + 1):
        progress.step(f"{loop.name}, round {number}")
        async with nuisance.sending(loop.request):
            beside.append(await asyncio.to_thread(_read, url, reads, window_s))
        alone.append(await asyncio.to_thread(_read, url, reads, window_s))
        gc.collect(1)
    found = ratio_of_windows(beside, alone, 99)
    return {
        "field": loop.name,
        **found.row(),
        "verdict": found.verdict(GOAL),
        "p99_ms": _p99(beside),
        "alone_p99_ms": _p99(alone),
    }


def _p99(times: Times) -> float:
    return round(percentile([took for one in times for took in one], 99), 2)


def _read(url: str, reads: Sequence[bytes], for_s: float) -> list[float]:
    """Return how many milliseconds each read took."""
    took, until = list[float](), time.perf_counter() + for_s
    with Wire(url) as wire:
        while time.perf_counter() < until:
            for request in reads:
                took.append(wire.ask(request)[1] / (US_PER_S / 1000))
                time.sleep(PAUSE_S)
    return took
