"""One siege, from the first fault to the last proof."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from weft.client.api import Api, Document
from weft.run.role_process import RoleFailed
from weft_siege.checks import END_EVENTS, LAST_EVENT, check
from weft_siege.crowd import Crowd
from weft_siege.faults import Fault
from weft_siege.fortress import PATIENCE_S, Fortress, until
from weft_siege.load import Load, find_batch
from weft_siege.standing import Line, Schedule

STEP_S = 0.5
EVENTS_S = 20.0


@dataclass
class Attack:
    """What is attacked, with what, and what came of it."""

    fortress: Fortress
    faults: Sequence[Fault]
    seed: int
    tell: Callable[[Fault, bool], None]
    """Is told of each fault, and whether it met a process."""
    facts: dict[str, int] = field(default_factory=dict)
    _events: list[Document] = field(default_factory=list)
    """No more of each than the checks need: there are hundreds of thousands."""
    _complete: set[int] = field(default_factory=set)

    async def run(self) -> Mapping[str, Sequence[str]]:
        """Attack until the last job has ended; return what is wrong, by promise."""
        receiver = self.fortress.receiver
        async with (
            self.fortress.wired(), receiver.listening(), self.fortress.standing(),
            self._clients() as clients,
        ):  # fmt: skip
            listening = asyncio.Event()
            reading = asyncio.create_task(self._read(clients[0], listening))
            await listening.wait()
            base = self.fortress.home.parent
            line, schedule = Line(base, receiver.port), Schedule(base)
            await self.fortress.command("line", "apply", str(line.file))
            await schedule.begin(clients[0])
            load = Load(self.seed, base, clients, receiver.port, line.drop)
            if broker := self.fortress.broker:
                await self.fortress.command("queue", "apply", str(broker.queues), "--yes")
                load.queue = broker.queue
            begun = time.monotonic()
            await self._inflict(load, Crowd(self.seed, load, clients))
            made = {
                "schedules": await schedule.wrong(clients[0]),
                "sources": await line.wrong(clients[0]),
            }
            for standing in (schedule, line):
                load.batches += await standing.batches(clients[0])
            await self._until_ended(clients[0], load)
            took_s = time.monotonic() - begun
            await self._until_told(load)
            reading.cancel()
            begun = time.monotonic()
            wrong = dict(await check(clients, load.batches, self._events, receiver.names()))
            checks_s = time.monotonic() - begun
            wrong |= {promise: list(words) for promise, words in made.items()}
            wrong["audit"] = await asyncio.to_thread(_audit, self.fortress.home)
        wrong["processes left"] = [str(pid) for pid in self.fortress.leftovers()]
        self.facts |= {
            "files": sum(len(batch.jobs) for batch in load.batches if batch.kind == "line"),
            "times due": sum(batch.kind == "scheduled" for batch in load.batches),
            "limits": sum(batch.kind == "limited" for batch in load.batches),
            "jobs": (count := sum(len(batch.jobs) for batch in load.batches)),
            "jobs a second": round(count / took_s),
            "seconds of checks": round(checks_s),
            "runs again": sum(batch.evidence.doubled() for batch in load.batches),
            "ends again": sum(batch.evidence.doubled("end") for batch in load.batches),
            "events told": len(self._events),
            "callbacks told": sum(ids.total() for ids in receiver.told.values()),
        }
        return wrong

    @asynccontextmanager
    async def _clients(self) -> AsyncIterator[Sequence[Api]]:
        """Give a client for each api, which waits while that is away."""
        token = json.loads((self.fortress.home / "client.json").read_text())["token"]
        async with AsyncExitStack() as stack:
            urls = [f"http://127.0.0.1:{port}" for port in self.fortress.ports]
            apis = [
                Api(url, token, patience_s=PATIENCE_S, on_outage=lambda _: None) for url in urls
            ]
            for api in apis:
                await (await stack.enter_async_context(api)).whoami()
            yield apis

    async def _read(self, client: Api, listening: asyncio.Event) -> None:
        async for event in client.events(opened=listening.set):
            told = ("id", "batch_id", "kind", *(["jobs"] if event["kind"] in END_EVENTS else ()))
            self._events.append({name: event[name] for name in told})
            if event["kind"] == LAST_EVENT:
                self._complete.add(event["batch_id"])

    async def _inflict(self, load: Load, crowd: Crowd) -> None:
        """Let all faults come at their times, while work comes in."""
        loading = asyncio.ensure_future(asyncio.gather(load.run(), crowd.run()))
        begun = time.monotonic()
        for fault in self.faults:
            await asyncio.wait([loading], timeout=begun + fault.at_s - time.monotonic())
            if loading.done():
                break
            self.tell(fault, await self.fortress.inflict(fault))
        self.fortress.wake()
        for wire in self.fortress.wires.values():
            wire.suffer("")
        load.stop()
        await loading

    async def _until_ended(self, client: Api, load: Load) -> None:
        """Wait until all jobs have ended and all of that was told; the checks say what has not."""
        deadline = time.monotonic() + PATIENCE_S + len(self.faults)
        for batch in load.batches:
            while (found := await find_batch(client, batch)) and not found["complete"]:
                if time.monotonic() > deadline:
                    return
                await asyncio.sleep(STEP_S)
        batches = {batch.batch_id for batch in load.batches}
        with suppress(RoleFailed):
            await until(
                lambda: batches <= self._complete, "the last events come", within_s=EVENTS_S
            )

    async def _until_told(self, load: Load) -> None:
        """Wait until all callbacks and messages have come."""
        names = {name for batch in load.batches for name in batch.told_as}
        receiver = self.fortress.receiver
        with suppress(RoleFailed):
            await until(
                lambda: names <= receiver.names().keys(), "callbacks come", within_s=EVENTS_S
            )


def _audit(home: Path) -> list[str]:
    """Return the checks of `weft audit` that find differences."""
    words = [sys.executable, "-P", "-m", "weft.cli", "audit", "--home", str(home), "--json"]
    answer = subprocess.run(words, check=False, capture_output=True, text=True)
    if answer.returncode not in {0, 1}:
        return [answer.stderr]
    return [json.dumps(finding) for finding in json.loads(answer.stdout) if finding["rows"]]
