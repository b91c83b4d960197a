"""The cases, each the same for every side, judged by what the jobs wrote."""

import asyncio
import time
from collections import Counter
from statistics import median
from typing import Any, Final, NamedTuple

from benches.peers.sides import Side, pss_mb, until
from weft.bench.plan import BenchFailed

PATIENCE_S: Final = 70.0
"""So long nothing happens before what has not ended counts as lost."""
FORGOTTEN_S: Final = 5.0
"""The same, where nothing keeps the jobs."""
KILL_JOBS: Final = 40
KILL_AFTER: Final = 8
SLEEPERS_AT_ONCE: Final = 50
SLEEPERS: Final = 150
MEMORY_LOOK_S: Final = 0.5


class Line(NamedTuple):
    """What a job or its sender wrote: `s`ent, `b`egun, `e`nded, or `l`ooked at."""

    what: str
    number: int
    at_ns: int


class Cases:
    """Runs cases on one side; every job of it has another number."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self._next = 1

    async def rate(self, kind: str, count: int) -> float:
        """Return jobs per second from the first request until the last end."""
        first = self._submit(kind, count)
        await self._until_ended(first, count)
        ended_ns, (begun,) = time.time_ns(), self._lines("s", first, count)
        self._check(first, count)
        return count * 1e9 / (ended_ns - begun.at_ns)

    async def latency_ms(self, count: int) -> float:
        """Return the median from the request for a job until what it wrote is seen."""
        first = self._submit("latency", count)
        await self._until_noted("l", first, count, count)
        sent = {line.number: line.at_ns for line in self._lines("s", first, count)}
        looked = self._lines("l", first, count)
        return round(median(line.at_ns - sent[line.number] for line in looked) / 1e6, 1)

    async def sleepers(self) -> dict[str, Any]:
        """Return how many slept at once, how long all took, and the most memory meanwhile."""
        begun, first = time.monotonic(), self._submit("sleep", SLEEPERS)
        most = 0.0
        while len(self._lines("e", first, SLEEPERS)) < SLEEPERS:
            most = max(most, pss_mb(self.side.pids()))
            await asyncio.sleep(MEMORY_LOOK_S)
            if time.monotonic() > begun + 2 * PATIENCE_S:
                raise BenchFailed(f"{self.side.name}: sleepers take too long")
        lines = self._lines("b", first, SLEEPERS) + self._lines("e", first, SLEEPERS)
        now = at_once = 0
        for line in sorted(lines, key=lambda one: one.at_ns):
            now += 1 if line.what == "b" else -1
            at_once = max(at_once, now)
        seconds = (max(one.at_ns for one in lines) - min(one.at_ns for one in lines)) / 1e9
        return {"at_once": at_once, "seconds": round(seconds, 1), "peak_mb": most}

    async def killed(self, what: str) -> dict[str, Any]:
        """Kill worker or server in the middle; return what became of the jobs."""
        side, first = self.side, self._submit("short", KILL_JOBS)
        await self._until_noted("e", first, KILL_JOBS, KILL_AFTER)
        killed_at = time.monotonic()
        await self._kill(what, first)
        patience_s = PATIENCE_S if side.peer.keeps_jobs else FORGOTTEN_S
        n_lines, last = 0, time.monotonic()
        while (
            len(self._ended(first, KILL_JOBS)) < KILL_JOBS and time.monotonic() < last + patience_s
        ):
            side.heal()
            await asyncio.sleep(0.1)
            if (lines := len(self._lines("e", first, KILL_JOBS))) > n_lines:
                n_lines, last = lines, time.monotonic()
        ended = Counter(line.number for line in self._lines("e", first, KILL_JOBS))
        begun = Counter(line.number for line in self._lines("b", first, KILL_JOBS))
        return {
            "lost": KILL_JOBS - len(ended),
            "ended_twice": sum(count > 1 for count in ended.values()),
            "begun_twice": sum(count > 1 for count in begun.values()),
            "seconds": round(last - killed_at, 1),
        }

    async def _kill(self, what: str, first: int) -> None:
        side = self.side
        if what == "server":
            await side.kill_server()
        else:
            side.kill_worker()
        if side.name == "weft":
            return
        if what == "server" or side.peer.server == "own":
            await side.start_server()
        if what == "worker":
            side.start_worker()
        if side.peer.goes_on:
            side.submit("short", first, KILL_JOBS)

    def _submit(self, kind: str, count: int) -> int:
        first, self._next = self._next, self._next + count
        self.side.submit(kind, first, count)
        return first

    async def _until_ended(self, first: int, count: int) -> None:
        await self._until_noted("e", first, count, count)

    async def _until_noted(self, what: str, first: int, count: int, wanted: int) -> None:
        side = self.side
        await until(
            lambda: len(self._lines(what, first, count)) >= wanted or side.has_failed(),
            f"{side.name}: {count} jobs",
        )
        if len(self._lines(what, first, count)) < wanted:
            raise BenchFailed(f"{side.name} could not submit", detail=side.log_end())

    def _check(self, first: int, count: int) -> None:
        ended = self._lines("e", first, count)
        if len(ended) != count or len(self._ended(first, count)) != count:
            raise BenchFailed(f"{self.side.name} did a job twice or never")

    def _ended(self, first: int, count: int) -> set[int]:
        return {line.number for line in self._lines("e", first, count)}

    def _lines(self, what: str, first: int, count: int) -> list[Line]:
        found = []
        for text in self.side.done.read_text().splitlines():
            if text[0] != what:
                continue
            name, number, at_ns = text.split()
            if first <= int(number) < first + count:
                found.append(Line(name, int(number), int(at_ns)))
        return found
