"""Simulated jobs that travel over topics: this worker asks for the runs of its attempts, and runs
what records ask for, whoever wrote them.

    attempt ──▶ run-job ──▶ member of the group: here or elsewhere, of weft or not
       ▲                        │ once for each id (ledger)
       └── job-completed, job-failed

A run is noted in the ledger before its outcome is published, and its record is done after that: so
whatever dies in between, the outcome is published by the next one who gets the record.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID, uuid5

import msgspec

from weft.plugins.runners.simulation.steps import Adder, Lines, Output, StepFailed, take
from weft.ports.patience import pause_after, run_beside, tasks_beside, until_answered
from weft.ports.topics import Arrival, JobTopics, Positions, Record, RunAnswer, Topics
from weft.ports.transport import TransportError
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.telemetry.topics import keep_poison
from weft.wire import job_topics as wire
from weft.wire.documents.simulations import HttpCall, Sleep, Step
from weft.wire.spec import JobSpec

_AT_ONCE: Final = 500


class Outbox:
    """What waits to be written."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._waiting: list[tuple[Record, asyncio.Future[bool]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write(self, record: Record) -> bool:
        """Write a record; return whether it is confirmed. One that is not may be at fault itself,
        or stood behind one that was.
        """
        written: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((record, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        return await written

    async def _write(self) -> None:
        while self._waiting:
            some, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
            kept: Sequence[bool] = ()
            try:
                kept = await self._topics.publish([record for record, _ in some])
            except TransportError:
                kept = [False] * len(some)
            finally:
                # Whatever has happened, nobody waits here for ever.
                for index, (_, written) in enumerate(some):
                    if not written.done():
                        written.set_result(index < len(kept) and kept[index])


_ASK_AGAIN_S: Final = 1.0
"""When a run is asked about again that somebody else has."""
_PATIENCE_MAX_S: Final = 3600.0
_KNOWN_MAX: Final = 100_000
"""Ids of outcomes that are remembered, to know repeats by."""


class Travel(NamedTuple):
    """A job that travels: over which set of topics, and who it is for others."""

    topics: str
    job_id: str
    trace_id: str


def travel_of(spec: JobSpec) -> Travel | None:
    """Return who a job is for others; None: it does not travel."""
    who = spec.identity or {}
    if wire.TOPICS not in who:
        return None
    return Travel(who[wire.TOPICS], who[wire.JOB], who[wire.TRACE])


class _NoLines:
    """Where the lines of a run go that is no attempt of this worker."""

    def __init__(self, envelope: wire.Envelope) -> None:
        self._envelope = envelope

    def add(self, line: str) -> None:
        log.info(
            "topics.line", job=self._envelope.job_id, trace_id=self._envelope.trace_id, line=line
        )

    async def before(self, wait_ms: int) -> None:
        del wait_ms


@dataclass(eq=False)
class _Sent:
    """An attempt of this worker whose run was asked for."""

    travel: Travel
    output: Output
    outcome: "asyncio.Future[wire.Outcome]"
    cpu_ms: int = 0
    running: "set[asyncio.Task[str | None]]" = field(default_factory=set)


class Exchange:
    """One incarnation's part in the topics."""

    say_after_s = 10.0
    """When people are told that a run cannot be asked for."""

    def __init__(self, site: JobTopics, owner: str, adder: Adder) -> None:
        self._site = site
        self._owner = owner
        self._adder = adder
        self._sent: dict[str, _Sent] = {}
        """By the ids of their runs."""
        self._last_run: dict[str, str] = {}
        """By the ids of jobs: for outcomes that do not say of which run they are."""
        self._outbox = Outbox(site.topics)
        self._here: dict[UUID, asyncio.Task[str | None]] = {}
        """What runs here."""
        self._known: OrderedDict[UUID, None] = OrderedDict()
        self._positions = Positions()
        self._follows = asyncio.Event()
        self._is_ending = False

    async def run(self) -> None:
        """Follow outcomes and serve runs, until cancelled."""
        await run_beside(*map(self._always, (self._follow, self._serve)))

    def close(self) -> None:
        """Let runs that are cancelled from now on come again, instead of having failed."""
        self._is_ending = True

    async def send(
        self,
        travel: Travel,
        steps: Sequence[Step],
        output: Output,
        attempt: int,
        say: Callable[[str], None],
    ) -> int:
        """Have an attempt run by whoever gets its record; return the milliseconds of CPU that it
        took here. Raise `StepFailed` as its outcome says. `say` tells people why it waits.

        While nobody answers it is asked for again, under the same id: so a record that somebody
        has taken and forgotten is run after all, and one that runs is not run twice.
        """
        event_id = wire.run_event_id(travel.job_id, attempt)
        sent = _Sent(travel, output, asyncio.get_running_loop().create_future())
        run = self._last_run[travel.job_id] = str(event_id)
        self._sent[run] = sent
        try:
            value = {wire.JOB: travel.job_id, "instruction": {"steps": steps}}
            headers = wire.headers_of(travel.trace_id, event_id)
            patience_s, n_asked = self._site.answer_s, 0
            while not sent.outcome.done():
                with self._saying(say, n_asked):
                    await self._follows.wait()
                    await self._publish(wire.RUN, travel.job_id, value, headers)
                n_asked += 1
                await asyncio.wait({sent.outcome}, timeout=_waits_s(steps) + patience_s)
                patience_s = min(2 * patience_s, _PATIENCE_MAX_S)
            outcome = sent.outcome.result()
        except asyncio.CancelledError:
            for task in sent.running:
                task.cancel()
            raise
        finally:
            del self._sent[run]
            if self._last_run[travel.job_id] == run:
                del self._last_run[travel.job_id]
        if outcome.is_failed:
            raise StepFailed(outcome.error)
        return sent.cpu_ms

    @contextmanager
    def _saying(self, say: Callable[[str], None], n_asked: int) -> Iterator[None]:
        """Say that a run cannot be asked for, if that takes long, and what became of it; an answer
        that comes soon says nothing.
        """
        name, loop = self._site.name, asyncio.get_running_loop()
        late = loop.call_later(self.say_after_s, say, f"the topics of {name} do not take its run")
        try:
            yield
        finally:
            late.cancel()
        if n_asked or loop.time() >= late.when():
            say(f"nobody has answered its run over {name} yet; asked {n_asked + 1} times")

    async def _always(self, serve: Callable[[], Awaitable[None]]) -> None:
        failures = 0
        while True:
            try:
                await self._site.topics.make(wire.PARTITIONS)
                await serve()
            except TransportError as error:
                log.warning("transport.away", transport=self._site.name, error=str(error))
            failures += 1
            await pause_after(failures)

    async def _follow(self) -> None:
        async with self._site.topics.follow(wire.OUTCOMES, self._positions) as arrivals:
            self._follows.set()
            async for one in arrivals:
                # What cannot be read is the intake's to report, which is one for all workers.
                with suppress(wire.Malformed):
                    self._settle(wire.read_outcome(one.at.topic, one.value, one.headers))

    def _settle(self, outcome: wire.Outcome) -> None:
        """End the attempt that an outcome is about, if it is one of this worker's."""
        if outcome.envelope.event_id in self._known:
            return
        self._known[outcome.envelope.event_id] = None
        if len(self._known) > _KNOWN_MAX:
            self._known.popitem(last=False)
        run = outcome.run_event_id or self._last_run.get(outcome.envelope.job_id, "")
        sent = self._sent.get(run.lower())
        if sent is None or sent.outcome.done():
            metrics.TOPIC_OUTCOMES.labels("ignored").inc()
            return
        sent.outcome.set_result(outcome)
        metrics.TOPIC_OUTCOMES.labels("failed" if outcome.is_failed else "completed").inc()

    async def _serve(self) -> None:
        topics, tasks = self._site.topics, set[asyncio.Task[None]]()
        async with (
            tasks_beside(tasks),
            topics.consume(self._site.group, wire.RUN, limit=self._site.limit) as arrivals,
        ):
            async for arrival in arrivals:
                task = asyncio.create_task(self._serve_one(arrival))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

    async def _serve_one(self, arrival: Arrival) -> None:
        """Run what a record asks for, publish how it ended, and let the record be done."""
        try:
            await self._run_and_publish(arrival)
        except Exception:
            # It must not hold up the records behind it.
            log.exception("topics.failed", topic=arrival.at.topic)
        arrival.acknowledge()

    async def _run_and_publish(self, arrival: Arrival) -> None:
        steps: Sequence[Step] = ()
        try:
            run = wire.read_run(arrival.value, arrival.headers)
            envelope, steps = run.envelope, run.simulation.steps
            refused = self._site.refusal(run.simulation)
        except wire.BadInstruction as bad:
            await keep_poison(self._site.topics, self._site.tenant, arrival, str(bad))
            envelope, refused = bad.envelope, str(bad)
        except wire.Malformed as bad:
            await keep_poison(self._site.topics, self._site.tenant, arrival, str(bad))
            return
        answer, has_waited = await self._begin(envelope), False
        while answer.answer == "running" or envelope.event_id in self._here:
            # It stays in flight until the run has ended, so that no crash can lose it.
            has_waited = True
            here = self._here.get(envelope.event_id)
            await (asyncio.sleep(_ASK_AGAIN_S) if here is None else asyncio.wait({here}))
            answer = await self._begin(envelope)
        if answer.answer == "run":
            error = await self._run_here(envelope, steps, refused)
        else:
            error = (answer.error or "") if answer.answer == "failure" else None
        if answer.answer == "run" or not has_waited:
            await self._publish_outcome(envelope, error)

    async def _run_here(
        self, envelope: wire.Envelope, steps: Sequence[Step], refused: str | None
    ) -> str | None:
        """Take the steps and note the end; return the error, None: it succeeded."""
        task = asyncio.create_task(self._take(envelope, steps, refused))
        self._here[envelope.event_id] = task
        try:
            error = await task
            await until_answered(
                lambda: self._site.ledger.end_run(
                    self._run_id(envelope.event_id),
                    self._owner,
                    is_failed=error is not None,
                    error=error or "",
                )
            )
        finally:
            self._here.pop(envelope.event_id, None)
        return error

    async def _take(
        self, envelope: wire.Envelope, steps: Sequence[Step], refused: str | None
    ) -> str | None:
        if refused is not None:
            return refused
        sent = self._sent.get(str(envelope.event_id))
        lines: Lines = _NoLines(envelope) if sent is None else sent.output
        if sent is not None:
            sent.running.add(asyncio.current_task())  # type: ignore[arg-type]
        try:
            for step in steps:
                cpu_ms = await take(step, lines, self._adder, self._tenant)
                if sent is not None:
                    sent.cpu_ms += cpu_ms
        except StepFailed as error:
            return str(error)
        except asyncio.CancelledError:
            if self._is_ending or sent is None:
                raise
            return "cancelled"
        return None

    async def _tenant(self) -> str:
        return self._site.tenant

    async def _begin(self, envelope: wire.Envelope) -> RunAnswer:
        site, event_id = self._site, envelope.event_id
        record = {**envelope._asdict(), "event_id": str(event_id), "door": site.door}
        return await until_answered(
            lambda: site.ledger.begin_run(
                self._run_id(event_id),
                self._owner,
                keep_s=site.keep_s,
                tenant=site.tenant,
                record=record,
            )
        )

    def _run_id(self, event_id: UUID) -> UUID:
        """Return what the ledger calls a run: who writes to another set has no part in it."""
        return uuid5(event_id, self._site.name)

    async def _publish_outcome(self, envelope: wire.Envelope, error: str | None) -> None:
        value: dict[str, object] = {wire.JOB: envelope.job_id}
        if error is not None:
            value["errorMessage"] = error or None
        headers = wire.headers_of(envelope.trace_id) | {wire.RUN_EVENT: str(envelope.event_id)}
        topic = wire.COMPLETED if error is None else wire.FAILED
        await self._publish(topic, envelope.job_id, value, headers)
        metrics.TOPIC_RUNS.labels("completed" if error is None else "failed").inc()

    async def _publish(
        self, topic: str, job_id: str, value: object, headers: dict[str, str]
    ) -> None:
        """Write a record, as often as it takes."""
        record = Record(topic, job_id, msgspec.json.encode(value), headers)
        failures = 0
        while not await self._outbox.write(record):
            failures += 1
            await pause_after(failures)


def _waits_s(steps: Sequence[Step]) -> float:
    """Return how long steps wait in all."""
    waits_ms = [
        step.duration_ms if isinstance(step, Sleep) else step.latency_ms
        for step in steps
        if isinstance(step, Sleep | HttpCall)
    ]
    return sum(waits_ms) / 1000
