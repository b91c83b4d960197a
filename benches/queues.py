"""Queues on PostgreSQL beside each other, while worker, server and sessions are killed and rows
cannot go: weft, Procrastinate, PgQueuer, awa and Absurd, on one server, one after another.

Scenarios after those of hardbyte's postgresql-job-queue-benchmarking, written anew; jobs are
commands that append their number to a file, so nobody is asked what was done. docs/peers.md.
"""

import asyncio
import re
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any, Final

import asyncpg

from benches.engine_loop import run
from benches.peers.sides import ROOT, Side, remove, side_of
from benches.queries import query
from weft import __version__
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import throwaway_home
from weft.bench.turns import audit_findings
from weft.run.database import EmbeddedDatabase

PEERS: Final = ("procrastinate", "pgqueuer", "awa", "absurd")
HOUR_S: Final = 3600.0
PHASES: Final = 16
"""How many times as long as one phase it takes with a side, without its start and drain."""
APART_S: Final = 25.0
"""What start and drain take."""
AT_ONCE: Final = 8
DEPTH: Final = 400
"""So many jobs wait or run: always more than can be done."""
CHUNK: Final = 50
OVERLOAD: Final = 1.5
FAILING: Final = 5
"""After each chunk, while some fail."""
ATTEMPTS: Final = 3
DEAD_AFTER_S: Final = 5.0
"""For the peers, whose usual half a minute and more is longer than a phase."""
DOWN_S: Final = 2.0
TERMINATE_EVERY_S: Final = 0.5
KILLS: Final = 4
READERS: Final = 4
READ_EVERY_S: Final = 0.1
LOOK_S: Final = 0.05
HEAL_S: Final = 1.0
"""What has ended by itself is started again, as by a manager of services."""
PATIENCE_S: Final = 40.0
"""So long nothing happens before what has not ended counts as lost."""
FULL: Final = 0.9
"""Of the rate before: from there on it has recovered."""
GOALS: Final = {
    "restarted": ("ratio", 0.95),
    "killed": ("during", 0.9),
    "idle_in_transaction": ("ratio", 0.9),
}
"""The least of each scenario: after a restart, while a worker is killed again and again, and with
the transaction open.
"""

Stress = Callable[["Queue"], Coroutine[Any, Any, None]]


class Server(EmbeddedDatabase):
    """The PostgreSQL of all, with a database for each."""

    is_down = False

    async def restart(self) -> None:
        """Stop it as an administrator does, and start it a while later."""
        self.is_down = True
        try:
            await self.stop(fast=True)
            await asyncio.sleep(DOWN_S)
            await self.start()
        finally:
            self.is_down = False

    def dsn(self, name: str = "postgres") -> str:
        """Return the way to a database, as the owner."""
        return self.logins()["admin"].replace("/postgres?", f"/{name}?")

    async def ask(self, database: str, name: str, *values: str) -> Any:  # noqa: ANN401 (what the query has)
        """Return what a statement returns, or a query by its name."""
        connection = await asyncpg.connect(self.dsn(database))
        try:
            return await connection.fetchval(name if " " in name else query(name), *values)
        finally:
            await connection.close()


class Queue:
    """One side under load: it is fed, and what its jobs wrote is read as the file grows."""

    def __init__(self, side: Side, server: Server) -> None:
        self.side, self.server = side, server
        self.ends: Counter[int] = Counter()
        self.failures: Counter[int] = Counter()
        self.missing: set[int] = set()
        """Known to be taken in, and not ended."""
        self.failing: set[int] = set()
        self.calm = 0.0
        """The rate of the last phase without anything amiss."""
        self.event_at = 0.0
        """When the last one of what a phase does was done."""
        self._done, self._rest = side.done.open("rb"), b""
        self._next = 1
        self._asked: tuple[str, int, int] | None = None
        self._failed_last = False
        self._feeder = side.feed()
        self._healed_at = 0.0
        self._looks: list[tuple[float, int]] = []

    async def phase(
        self,
        seconds: float,
        stress: Stress | None = None,
        *,
        growth: float = 0.0,
        failing: bool = False,
    ) -> float:
        """Feed it so long; return the rate. `growth`: by how much more a second may wait."""
        begun = self.event_at = time.monotonic()
        tasks = [asyncio.create_task(stress(self))] if stress is not None else []
        while (now := time.monotonic()) < begun + seconds or self.server.is_down:
            self._look()
            self._feed(DEPTH + growth * (now - begun), failing=failing)
            await asyncio.sleep(LOOK_S)
        for task in tasks:
            if not task.cancel():
                task.result()  # or its error
        return self.rate(begun, now)

    def rate(self, since: float, until: float) -> float:
        """Return how many attempts ended each second; a job that ended twice counts once."""
        return (self._ended_by(until) - self._ended_by(since)) / (until - since)

    def recovered_s(self, since: float) -> float | None:
        """Return how long after a moment a second was about as good as before."""
        for at, _ in self._looks:
            if at > since + 1 and self.rate(at - 1, at) >= FULL * self.calm:
                return round(at - since, 1)
        return None

    async def drain(self) -> None:
        """Wait until all has ended, or nothing happens any more."""
        last, count = time.monotonic(), -1
        while time.monotonic() < last + PATIENCE_S:
            self._look()
            if not self.missing and all(self.failures[one] >= ATTEMPTS for one in self.failing):
                return
            if (now := self.ends.total() + self.failures.total()) > count:
                last, count = time.monotonic(), now
            await asyncio.sleep(LOOK_S)

    def close(self) -> None:
        """End what submits."""
        self._feeder.kill()
        self._feeder.wait()

    def twice(self) -> int:
        """Return how many jobs have ended more than once."""
        return sum(count > 1 for count in self.ends.values())

    def counts(self) -> dict[str, Any]:
        """Return what became of all jobs."""
        tries = Counter(self.failures[one] for one in self.failing)
        return {
            "ended": len(self.ends),
            "lost": len(self.missing),
            "ended_twice": self.twice(),
            "attempts_of_failed": {str(count): jobs for count, jobs in sorted(tries.items())},
        }

    def _ended_by(self, moment: float) -> int:
        place = bisect_right(self._looks, (moment, 1 << 62))
        return self._looks[place - 1][1] if place else 0

    def _look(self) -> None:
        if time.monotonic() > self._healed_at + HEAL_S:
            self._healed_at = time.monotonic()
            self.side.heal()
            if self._feeder.poll() is not None:  # what it was asked may be in or not
                self._asked, self._feeder = None, self.side.feed()
        *lines, self._rest = (self._rest + self._done.read()).split(b"\n")
        for line in lines:
            what, number = line.split()[:2]
            self._note(what, int(number))
        self._looks.append((time.monotonic(), len(self.ends) + self.failures.total()))

    def _note(self, what: bytes, number: int) -> None:
        if what == b"e":
            self.ends[number] += 1
            self.missing.discard(number)
        elif what == b"f":
            self.failures[number] += 1
        elif what == b"a" and self._asked is not None and self._asked[1] == number:
            kind, first, count = self._asked
            taken = set(range(first, first + count))
            if kind == "fail":
                self.failing |= taken
            else:
                self.missing |= taken - self.ends.keys()
            self._asked = None

    def _feed(self, depth: float, *, failing: bool) -> None:
        if self._asked is not None or len(self.missing) >= depth:
            return
        self._failed_last = failing and not self._failed_last
        kind, count = ("fail", FAILING) if self._failed_last else ("process", CHUNK)
        self._asked, self._next = (kind, self._next, count), self._next + count
        assert self._feeder.stdin is not None
        with suppress(BrokenPipeError):
            self._feeder.stdin.write(" ".join(map(str, self._asked)).encode() + b"\n")
            self._feeder.stdin.flush()


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the figures of each side, and the goals that weft has missed."""
    load, names = load_average(), ["weft", *(name for name in PEERS if plan.wants(name))]
    phase_s = max(2.0, (HOUR_S * plan.scale / len(names) - APART_S) / PHASES)
    progress.begin(9 * len(names))
    figures: dict[str, Any] = {}
    with throwaway_home(plan.directory) as home:
        server = Server(home)
        await server.start()
        try:
            for name in names:
                figures[name] = await _figures_of(name, server, phase_s, progress)
            sizes = {"phase_s": round(phase_s, 1), "at_once": AT_ONCE, "depth": DEPTH}
            at, dsn = home.path, server.dsn()
            conditions = await conditions_of(dsn, at, load_before=load, sizes=sizes)
        finally:
            await server.stop(fast=True)
    weft = figures["weft"]
    missed = [name for name, (of, goal) in GOALS.items() if weft[name][of] < goal]
    best = max((figures[name]["calm"] for name in names[1:]), default=weft["calm"])
    return document_of(
        Headline("jobs/s", weft["calm"], best, ratio_of(weft["calm"], best)),
        {"goals": GOALS, "missed": missed, "sides": figures},
        conditions,
    )


async def _figures_of(
    name: str, server: Server, phase_s: float, progress: BenchProgress
) -> dict[str, Any]:
    progress.step(f"{name}: start")
    if name in PEERS:
        await run("tools/peer.sh", name)
    await server.ask("postgres", f"CREATE DATABASE {name}")
    dsn, side = server.dsn(name), side_of(name)
    async with AsyncExitStack() as stack:
        stack.callback(remove, side)
        stack.push_async_callback(Side.stop, side)
        await side.join(dsn, AT_ONCE, DEAD_AFTER_S)
        queue = Queue(side, server)
        stack.callback(queue.close)
        await queue.phase(phase_s)
        found: dict[str, Any] = {"version": _version(name) if name in PEERS else __version__}
        queue.calm = first = await queue.phase(phase_s)
        kill = partial(_kill, every_s=phase_s / 2)
        for what, long, stress in (
            ("restarted", 1, _restart),
            ("terminated", 1, _terminate),
            ("killed", 2, kill),
        ):
            progress.step(f"{name}: {what}")
            found[what] = await _stressed(queue, long * phase_s, phase_s, stress)
        growth = (OVERLOAD - 1) * queue.calm
        for what, more in (("failing", {"failing": True}), ("overload", {"growth": growth})):
            progress.step(f"{name}: {what}")
            found[what] = _beside(queue, await queue.phase(phase_s, **more))
        queue.calm = await queue.phase(phase_s)
        for what, stress in (("active_readers", _readers), ("idle_in_transaction", _idle)):
            progress.step(f"{name}: {what}")
            found[what] = _beside(queue, await queue.phase(phase_s, stress))
            found[what]["dead_rows"] = await server.ask(name, "all_dead_rows")
        progress.step(f"{name}: soak, drain")
        soak = await queue.phase(2 * phase_s)
        found |= {"calm": round(first), "soak": ratio_of(soak, first)}
        found["dead_rows"] = await server.ask(name, "all_dead_rows")
        await queue.drain()
        found |= queue.counts()
        if name == "weft":
            found["audit_findings"] = await audit_findings(dsn)
    return found


def _beside(queue: Queue, rate: float) -> dict[str, Any]:
    return {"rate": round(rate), "ratio": ratio_of(rate, queue.calm)}


async def _stressed(
    queue: Queue, seconds: float, after_s: float, stress: Stress
) -> dict[str, Any]:
    """Return the rate while something happens, and after it, beside that before."""
    before, twice = queue.calm, queue.twice()
    during = await queue.phase(seconds, stress)
    event_at = queue.event_at
    after = await queue.phase(after_s)
    found: dict[str, Any] = {"during": ratio_of(during, before), "ratio": ratio_of(after, before)}
    found |= {"recovered_s": queue.recovered_s(event_at), "ended_twice": queue.twice() - twice}
    queue.calm = after if after >= FULL * before else before
    return found


def _version(name: str) -> str:
    pins = (ROOT / f"requirements/peers-{name}.txt").read_text()
    return str(re.findall(rf"(?m)^{name}(?:-pg|-sdk)?==([^ ]+)", pins)[0])


async def _restart(queue: Queue) -> None:
    """Stop the server, and start it again."""
    await queue.server.restart()
    queue.event_at = time.monotonic()


async def _terminate(queue: Queue) -> None:
    """End the sessions that do something, again and again."""
    while True:
        await queue.server.ask("postgres", "end_sessions", queue.side.name)
        queue.event_at = time.monotonic()
        await asyncio.sleep(TERMINATE_EVERY_S)


async def _kill(queue: Queue, every_s: float) -> None:
    """Kill the worker with all its jobs, which is started again at once."""
    for _ in range(KILLS):
        queue.side.kill_worker()
        queue.side.start_worker()
        queue.event_at = time.monotonic()
        await asyncio.sleep(every_s)


async def _ask_on(queue: Queue, statement: str, every_s: float) -> None:
    """Ask it again and again in one transaction that stays open."""
    connection = await asyncpg.connect(queue.server.dsn(queue.side.name))
    try:
        async with connection.transaction(isolation="repeatable_read"):
            while True:
                await connection.fetchval(statement)
                await asyncio.sleep(every_s)
    finally:
        connection.terminate()


async def _idle(queue: Queue) -> None:
    """Keep a transaction open that has a number and a snapshot."""
    await _ask_on(queue, query("own_xid"), HOUR_S)


async def _readers(queue: Queue) -> None:
    """Read the busiest table again and again, in transactions that stay open."""
    table = await queue.server.ask(queue.side.name, "busiest_table")
    read = f"SELECT count(*) FROM {table}"  # noqa: S608 (a name from the catalogue)
    await asyncio.gather(*(_ask_on(queue, read, READ_EVERY_S) for _ in range(READERS)))
