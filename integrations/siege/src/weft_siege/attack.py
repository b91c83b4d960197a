"""One siege, from the first fault to the last proof.

What must hold at the end: what jobs wrote and what was told, beside what the api answers.

It shares no code with the store: sums and states are made anew from answers of the api.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path

from weft.client.api import Api, Document
from weft.run.role_process import RoleFailed
from weft_siege.evidence import CPU_M
from weft_siege.faults import Fault
from weft_siege.fortress import PATIENCE_S, Fortress, until
from weft_siege.load import Batch, Load, find_batch

_END_EVENTS = ("jobs.success", "jobs.failed", "jobs.error")
_LOST = ("lost", "preempted")
Jobs = Mapping[int, Document]


async def check(
    client: Api,
    batches: Sequence[Batch],
    events: Sequence[Document],
    callbacks: Mapping[str, Collection[str]],
) -> Mapping[str, list[str]]:
    """Return what is wrong, in words, by the promise that it breaks; all are empty if all held.

    `callbacks`: under which names the end of each batch was told, by the name of its evidence.
    """
    repeated = [
        id_ for id_, count in Counter(event["id"] for event in events).items() if count > 1
    ]
    wrong = {"events": repeated}
    ends = Counter(
        (event["batch_id"], job, event["kind"])
        for event in events
        if event["kind"] in _END_EVENTS
        for job in event["jobs"] or ()
    )
    completed = Counter(event["batch_id"] for event in events if event["kind"] == LAST_EVENT)
    for batch in batches:
        found = await find_batch(client, batch)
        if found is None:
            wrong["lost"] = [*wrong.get("lost", ()), f"b{batch.batch_id} ({batch.kind}) is gone"]
            continue
        jobs = {job["job_id"]: job async for job in client.list_jobs(batch.batch_id)}
        tries = {job: await client.list_attempts(batch.batch_id, job) for job in jobs}
        for promise, sentences in {
            "lost": _lost(batch, jobs),
            "ended twice": _ended_twice(batch, tries),
            "live twice": map(str, batch.evidence.out_of_order()),
            "orphans": batch.evidence.processes().values(),
            "events": _untold(batch.batch_id, jobs, ends),
            "bills": _wrong_bills(found["cost_by_resource"], [*chain(*tries.values())]),
            "callbacks": _untold_ends(
                callbacks.get(batch.evidence.path.name, ()), completed[batch.batch_id]
            ),
        }.items():
            words = [f"b{batch.batch_id} ({batch.kind}): {text}" for text in sentences]
            wrong[promise] = wrong.get(promise, []) + words
    return wrong


def _lost(batch: Batch, jobs: Jobs) -> Iterator[str]:
    """Yield jobs that did not end as they must, or whose last attempt left no record."""
    for number, planned in enumerate(batch.jobs, 1):
        job = jobs.get(number, {})
        if job.get("state") != planned.state:
            yield f"job {number} is not {planned.state}: {job}"
    last = {number: job["attempt"] for number, job in jobs.items()}
    yield from batch.evidence.missing(batch.jobs, last)


def _ended_twice(batch: Batch, tries: Mapping[int, Sequence[Document]]) -> Iterator[str]:
    """Yield attempts that were not the last, and ended: a lost one may only have written so."""
    wrote = {(line.job_id, line.attempt) for line in batch.evidence.lines() if line.word == "end"}
    for number, attempts in tries.items():
        for attempt in attempts[:-1]:
            is_over = (number, attempt["attempt"]) in wrote and attempt["reason"] not in _LOST
            if is_over or attempt["state"] == "success":
                yield f"job {number} ran again after {attempt}"


def _untold(batch_id: int, jobs: Jobs, ends: Counter[tuple[int, int, str]]) -> Iterator[str]:
    """Yield ends of jobs that were not told exactly once."""
    for number, job in jobs.items():
        kind = f"jobs.{job['state']}"
        times = ends[batch_id, number, kind]
        if kind in _END_EVENTS and times != 1:
            yield f"{kind} of job {number} was told {times} times"


def _untold_ends(names: Collection[str], count: int) -> Iterator[str]:
    """Yield an end that was not told, or that was told anew instead of again. A batch that grows
    may end more than once.
    """
    if len(names) != max(1, count):
        yield f"its end was told under {len(names)} names"


def _wrong_bills(billed: Sequence[Document], attempts: Sequence[Document]) -> Iterator[str]:
    """Yield what a batch is billed for that its attempts, by their own times, did not use."""
    used: Counter[str] = Counter()
    for attempt in attempts:
        usage = {part["resource"]: part["usage"] for part in attempt["cost_by_resource"]}
        used.update(usage)
        cpu = CPU_M * _lived_ms(attempt)
        if abs(usage.get("cpu", 0) - cpu) > CPU_M:  # a millisecond, for what is rounded
            yield f"this attempt used {cpu} mCPU*ms: {attempt}"
    if used != (bill := Counter({part["resource"]: part["usage"] for part in billed})):
        yield f"it is billed for {bill}, its attempts used {used}"


def _lived_ms(attempt: Document) -> float:
    """Return how long an attempt ran; 0 if it did not."""
    if not (attempt["started_at"] and attempt["ended_at"]):
        return 0
    begun, ended = (datetime.fromisoformat(attempt[name]) for name in ("started_at", "ended_at"))
    return (ended - begun).total_seconds() * 1000


STEP_S = 0.5
EVENTS_S = 20.0
LAST_EVENT = "batch.complete"


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

    async def run(self) -> Mapping[str, Sequence[str]]:
        """Attack until the last job has ended; return what is wrong, by promise."""
        receiver = self.fortress.receiver
        async with (
            self.fortress.wire.carrying(), receiver.listening(), self.fortress.standing(),
            self._clients() as clients,
        ):  # fmt: skip
            listening = asyncio.Event()
            reading = asyncio.create_task(self._read(clients[0], listening))
            await listening.wait()
            load = Load(self.seed, self.fortress.home.parent, clients, receiver.port)
            await self._inflict(load)
            await self._until_ended(clients[0], load)
            names = {batch.evidence.path.name for batch in load.batches}
            with suppress(RoleFailed):
                await until(
                    lambda: names <= receiver.told.keys(), "callbacks come", within_s=EVENTS_S
                )
            reading.cancel()
            wrong = dict(await check(clients[0], load.batches, self._events, receiver.told))
            wrong["audit"] = await asyncio.to_thread(_audit, self.fortress.home)
        wrong["processes left"] = [str(pid) for pid in self.fortress.leftovers()]
        self.facts |= {
            "jobs": sum(len(batch.jobs) for batch in load.batches),
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
            self._events.append(event)

    async def _inflict(self, load: Load) -> None:
        """Let all faults come at their times, while work comes in."""
        loading = asyncio.create_task(load.run())
        begun = time.monotonic()
        for fault in self.faults:
            await asyncio.wait([loading], timeout=begun + fault.at_s - time.monotonic())
            if loading.done():
                break
            self.tell(fault, await self.fortress.inflict(fault))
        load.stop()
        await loading

    async def _until_ended(self, client: Api, load: Load) -> None:
        """Wait until all jobs have ended and all of that was told; the checks say what has not."""
        self.fortress.wake()
        self.fortress.wire.suffer("")
        deadline = time.monotonic() + PATIENCE_S + len(self.faults)
        for batch in load.batches:
            while (found := await find_batch(client, batch)) and not found["complete"]:
                if time.monotonic() > deadline:
                    return
                await asyncio.sleep(STEP_S)
        batches = {batch.batch_id for batch in load.batches}
        with suppress(RoleFailed):
            await until(
                lambda: batches <= self._told_complete(), "the last events come", within_s=EVENTS_S
            )

    def _told_complete(self) -> set[int]:
        return {event["batch_id"] for event in self._events if event["kind"] == LAST_EVENT}


def _audit(home: Path) -> list[str]:
    """Return the checks of `weft audit` that find differences."""
    words = [sys.executable, "-P", "-m", "weft.cli", "audit", "--home", str(home), "--json"]
    answer = subprocess.run(words, check=False, capture_output=True, text=True)
    if answer.returncode not in {0, 1}:
        return [answer.stderr]
    return [json.dumps(finding) for finding in json.loads(answer.stdout) if finding["rows"]]
