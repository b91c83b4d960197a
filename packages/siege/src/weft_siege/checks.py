"""What must hold at the end: what jobs wrote and what was told, beside what the api answers.

It shares no code with the store: sums and states are made anew from answers of the api.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain

from weft.client.api import Api, Document
from weft_siege.crowd import KIND as CROWD
from weft_siege.evidence import CROWDED, STORING, live_processes
from weft_siege.faults import HALF_WITHIN_S, LAG_S, Delays
from weft_siege.load import OF_GATEWAY, SERVICE, Batch, find_batch

LAST_EVENT = "batch.complete"
END_EVENTS = ("jobs.success", "jobs.failed", "jobs.error", "jobs.cancelled")
GROWING = ("growing", "line")
"""What grows may end more than once."""
LOOKS_AT_ONCE = 4
"""Batches that each api is asked for at the same time."""
ALL_TRIES_OF = 7
"""One of this number of batches is asked for the attempts of all jobs, a request each."""
_LOST = ("lost", "preempted")
_SEES_ENDS = frozenset({"spawner"})
_DELAYS_STARTS = frozenset(
    {"api", "broker", "database", "disk", "link", "postgres", "standby", "worker"}
)
"""A start that is on its way meanwhile gets too late a date: the run is billed for less."""
Jobs = Mapping[int, Document]


async def check(
    clients: Sequence[Api],
    batches: Sequence[Batch],
    events: Sequence[Document],
    callbacks: Mapping[str, Collection[str]],
    delays: Delays,
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
        if event["kind"] in END_EVENTS
        for job in event["jobs"] or ()
    )
    completed = Counter(event["batch_id"] for event in events if event["kind"] == LAST_EVENT)
    live = live_processes()
    left = iter(batches)

    async def look(client: Api) -> None:
        for batch in left:
            found = await find_batch(client, batch)
            if found is None:
                wrong.setdefault("lost", []).append(f"b{batch.batch_id} ({batch.kind}) is gone")
                continue
            jobs = {job["job_id"]: job async for job in client.list_jobs(batch.batch_id)}
            tries = await _tries(client, batch, jobs)
            for promise, sentences in {
                "lost": _lost(batch, jobs),
                "ended twice": _ended_twice(batch, tries),
                "live twice": map(str, batch.evidence.out_of_order()),
                "orphans": batch.evidence.processes(live).values(),
                "events": _untold(batch, jobs, ends, completed[batch.batch_id]),
                "bills": chain(
                    _wrong_bills(batch, found["cost_by_resource"], jobs, tries),
                    _wrong_times(batch, jobs, tries, delays),
                ),
                "sinks" if batch.kind == "line" else "callbacks": _untold_ends(
                    batch, callbacks, completed[batch.batch_id]
                ),
                "limits": batch.overspent,
                "guards": _misrouted(batch, jobs),
            }.items():
                words = [f"b{batch.batch_id} ({batch.kind}): {text}" for text in sentences]
                wrong.setdefault(promise, []).extend(words)

    await asyncio.gather(*map(look, [*clients] * LOOKS_AT_ONCE))
    if (half_s := delays.median_s()) > HALF_WITHIN_S:
        wrong["bills"].append(f"half of all runs are billed for {half_s:.2f} s more or less")
    return wrong


async def _tries(client: Api, batch: Batch, jobs: Jobs) -> Mapping[int, Sequence[Document]]:
    """Return the attempts of each job, or, as there are too many, of those that ran again by what
    weft or they themselves say.
    """
    asked = set(jobs)
    if batch.kind == CROWD or batch.batch_id % ALL_TRIES_OF:
        wrote = {line.job_id for line in batch.evidence.lines() if line.attempt != 1}
        asked &= wrote | {
            number
            for number, job in jobs.items()
            if job["attempt"] != 1 or job["state"] == "cancelled"  # it ended then
        }
    return {number: await client.list_attempts(batch.batch_id, number) for number in asked}


def _lost(batch: Batch, jobs: Jobs) -> Iterator[str]:
    """Yield jobs that did not end as they must, or whose last attempt left no record."""
    for number, planned in enumerate(batch.jobs, 1):
        job = jobs.get(number, {})
        if job.get("state") != planned.state:
            yield f"job {number} is not {planned.state}: {job}"
        elif planned.reason and job["reason"] != planned.reason:
            yield f"job {number} has not ended by {planned.reason}: {job}"
    last = {number: job["attempt"] for number, job in jobs.items()}
    yield from batch.evidence.missing(batch.jobs, last)


def _ended_twice(batch: Batch, tries: Mapping[int, Sequence[Document]]) -> Iterator[str]:
    """Yield attempts that were not the last, and ended: a lost one may only have written so."""
    lines = batch.evidence.lines() if batch.kind != SERVICE else ()
    wrote = {(line.job_id, line.attempt) for line in lines if line.word == "end"}
    for number, attempts in tries.items():
        for attempt in attempts[:-1]:
            is_over = (number, attempt["attempt"]) in wrote and attempt["reason"] not in _LOST
            if is_over or attempt["state"] == "success":
                yield f"job {number} ran again after {attempt}"


def _untold(
    batch: Batch, jobs: Jobs, ends: Counter[tuple[int, int, str]], count: int
) -> Iterator[str]:
    """Yield ends of jobs and of their batch that were not told exactly once."""
    if not count or (count > 1 and batch.kind not in GROWING):
        yield f"{LAST_EVENT} was told {count} times"
    for number, job in jobs.items():
        kind = f"jobs.{job['state']}"
        times = ends[batch.batch_id, number, kind]
        if kind in END_EVENTS and times != 1:
            yield f"{kind} of job {number} was told {times} times"


def _untold_ends(batch: Batch, told: Mapping[str, Collection[str]], count: int) -> Iterator[str]:
    """Yield what was not told, or was told anew instead of again. A batch that grows may end more
    than once; that an end is no event is counted there.
    """
    times = 1 if batch.kind == "line" else max(1, count)
    for name in batch.told_as:
        if len(told.get(name, ())) != times:
            yield f"its end was told to {name} under {len(told.get(name, ()))} names"


def _misrouted(batch: Batch, jobs: Jobs) -> Iterator[str]:
    """Yield jobs that another queue took than must, and runs for which theirs had no place."""
    for number, planned in enumerate(batch.jobs, 1):
        queue = jobs.get(number, {}).get("queue")
        if planned.queue and queue != planned.queue:
            yield f"job {number} is in queue {queue}, not {planned.queue}"
    yield from (str(line) for line in batch.evidence.lines() if line.word == CROWDED)


def _wrong_bills(
    batch: Batch, billed: Sequence[Document], jobs: Jobs, tries: Mapping[int, Sequence[Document]]
) -> Iterator[str]:
    """Yield what a batch is billed for that its attempts, by their own times, did not use."""
    used: Counter[str] = Counter()
    for attempt in chain(*tries.values()):
        usage = {part["resource"]: part["usage"] for part in attempt["cost_by_resource"]}
        used.update(usage)
        cpu = batch.cpu_m * _lived_ms(attempt)
        if abs(usage.get("cpu", 0) - cpu) > batch.cpu_m:  # a millisecond, for what is rounded
            yield f"this attempt used {cpu} mCPU*ms: {attempt}"
    bill = Counter({part["resource"]: part["usage"] for part in billed})
    if once := [job for number, job in jobs.items() if number not in tries]:
        cpu = used["cpu"] + batch.cpu_m * sum(map(_lived_ms, once))
        if abs(bill["cpu"] - cpu) > batch.cpu_m * len(once):
            yield f"it is billed for {bill}, its attempts used {cpu} mCPU*ms"
    elif used != bill:
        yield f"it is billed for {bill}, its attempts used {used}"


def _wrong_times(
    batch: Batch, jobs: Jobs, tries: Mapping[int, Sequence[Document]], delays: Delays
) -> Iterator[str]:
    """Yield whole runs that lasted, by weft's times, less or longer than by their own. Of one that
    was lost, or ended before it wrote so, nobody else knows; of those in Slurm that says it.
    """
    if batch.kind == OF_GATEWAY:
        return
    up_s = {(one.job_id, one.attempt, one.word): one.up_s for one in batch.evidence.lines()}
    for number, job in jobs.items():
        for run in tries.get(number, [job]):
            begun, ended = (up_s.get((number, run["attempt"], word)) for word in ("begin", "end"))
            if begun is None or ended is None or run["reason"] in _LOST:
                continue
            over_s = _lived_ms(run) / 1000 - (ended - begun)
            if over_s > 0 and batch.kind == STORING:  # what it left is sent then
                continue
            delays.seen_s.append(abs(over_s))
            parts = _SEES_ENDS if over_s > 0 else _DELAYS_STARTS
            if abs(over_s) > LAG_S and abs(over_s) > delays.of_s(parts, begun, ended):
                yield f"job {number} ran {ended - begun:.2f} s by its own times: {run}"


def _lived_ms(attempt: Document) -> float:
    """Return how long an attempt, or the last one of a job, ran; 0 if it did not."""
    if not (attempt["started_at"] and attempt["ended_at"]):
        return 0
    begun, ended = (datetime.fromisoformat(attempt[name]) for name in ("started_at", "ended_at"))
    return (ended - begun).total_seconds() * 1000
