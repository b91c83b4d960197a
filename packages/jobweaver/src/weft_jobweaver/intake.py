"""Take in the jobs that records of `job-created` bring, as the user whom the operator has named.

Every api does so, as members of one group. A record is done when its job is submitted, is known
already or is refused; a repeat has the same idempotency key. Outcomes are the workers' business:
here their offsets are committed for the group, and those that cannot be read are reported.
"""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

import msgspec

from weft.api.services import Services
from weft.api.use_cases.intake import finish_all, named_user, submit_taken, until_possible
from weft.core.access.rights import UserRole
from weft.core.access.token_text import stored_key
from weft.core.consumer_limits import INTAKE_MAX
from weft.core.errors import IdempotencyConflict, QueueFull, QuotaExceeded, Unavailable, WeftError
from weft.core.ids import format_batch_id
from weft.core.problems import Problems, problem_document
from weft.ports.patience import run_beside
from weft.ports.store import Caller, ForeignJobs, Origin
from weft.ports.topics import Arrival, Topics
from weft.settings.transports_file import JobTopicsDocument
from weft.submission.translation.kinds import check_steps
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.telemetry.topics import keep_poison
from weft.telemetry.trace import new_trace_id
from weft.wire import job_topics as wire
from weft_jobweaver.documents import batch_of

GROUP: Final = "scheduler-group"


async def take_in(services: Services, topics: Topics, name: str, jobs: JobTopicsDocument) -> None:
    """Make the topics of a set of this name, and take in what comes. Never returns."""
    intake = _Intake(services, topics, name, jobs)
    outcomes = [intake.serve(topic, intake.look_at) for topic in wire.OUTCOMES]
    await run_beside(intake.serve(wire.CREATED, intake.submit), *outcomes)


class _Intake:
    def __init__(
        self, services: Services, topics: Topics, name: str, jobs: JobTopicsDocument
    ) -> None:
        self._services = services
        self._topics = topics
        self._name = name
        self._jobs = jobs

    async def serve(self, topic: str, take: Callable[[Arrival], Awaitable[None]]) -> None:
        """Take what comes by a topic, until cancelled."""
        group = self._jobs.prefix + GROUP

        @asynccontextmanager
        async def consume() -> AsyncIterator[AsyncIterator[Arrival]]:
            await self._topics.make(wire.PARTITIONS)
            async with self._topics.consume(group, topic, limit=INTAKE_MAX) as arrivals:
                yield arrivals

        await finish_all(self._name, consume, lambda arrival: self._finish(arrival, take))

    async def _finish(self, arrival: Arrival, take: Callable[[Arrival], Awaitable[None]]) -> None:
        """Take a record until that is possible; then it is done."""
        try:
            await until_possible(lambda: take(arrival))
        except Exception:
            # It must not hold up the records behind it.
            log.exception("topics.failed", topic=arrival.at.topic)
        arrival.acknowledge()

    async def look_at(self, arrival: Arrival) -> None:
        """Report an outcome that cannot be read."""
        try:
            wire.read_outcome(arrival.at.topic, arrival.value, arrival.headers)
        except wire.Malformed as error:
            await keep_poison(self._topics, self._jobs.tenant, arrival, str(error))

    async def submit(self, one: Arrival) -> None:
        """Submit a job. Raise `Unavailable`, `QuotaExceeded` or `QueueFull`: it is tried again."""
        try:
            created = wire.read_created(one.value, one.headers)
        except wire.Malformed as error:
            await keep_poison(self._topics, self._jobs.tenant, one, str(error))
            return
        job_id = created.envelope.job_id
        if created.envelope.event_id == wire.created_event_id(job_id):
            metrics.TOPIC_JOBS.labels("known").inc()
            return  # weft has told of it
        try:
            batch_id = await self._create(created)
        except (Unavailable, QuotaExceeded, QueueFull):
            raise
        except IdempotencyConflict:
            batch_id = None
        except WeftError as error:
            metrics.TOPIC_JOBS.labels("refused").inc()
            why = problem_document(error, created.envelope.trace_id)
            await keep_poison(
                self._topics, self._jobs.tenant, one, msgspec.json.encode(why).decode()
            )
            return
        metrics.TOPIC_JOBS.labels("known" if batch_id is None else "submitted").inc()
        if batch_id is not None:
            log.info(
                "topics.submitted",
                job=job_id,
                batch=format_batch_id(batch_id),
                trace_id=created.envelope.trace_id,
            )

    async def _create(self, asked: wire.JobCreated) -> int | None:
        """Submit a job; return its batch, None: it is known."""
        caller = await named_user(self._services, self._jobs.tenant, self._jobs.user, "jobs")
        job_id, trace_id = asked.envelope.job_id, asked.envelope.trace_id
        jobs = ForeignJobs(door=NAME, foreign_id=job_id, limit=1)
        anybody = replace(caller, role=UserRole.OPERATOR)  # it is known whoever has submitted it
        if (await self._services.store.list_foreign_jobs(anybody, jobs))["total"]:
            return None
        problems = Problems()
        check_steps(asked.simulation, self._services.settings, problems, "/instruction/steps")
        problems.raise_any()
        identity = identity_of(self._name, job_id, trace_id, come=True)
        document = batch_of(asked.simulation, asked.retries_max, identity)
        origin = Origin(
            digest=hashlib.sha256(job_id.encode()).digest(),
            trace_id=new_trace_id(),
            key=stored_key(NAME, f"{wire.CREATED} {job_id}"),
            door=NAME,
            foreign_trace=trace_id,
            foreign_id=job_id,
        )
        if self._jobs.project is not None:
            document.billing_project = self._jobs.project
        answer, is_new = await submit_taken(
            self._services, caller, document, origin, "take_in_job", f"/{wire.CREATED}"
        )
        return int(answer["batch_id"]) if is_new else None


NAME: Final = "jobweaver"


def identity_of(topics: str, job_id: str, trace_id: str, *, come: bool = False) -> dict[str, str]:
    """Return by what a job is known that travels. `topics`: over which set; `come`: a record has
    brought it.
    """
    known = {wire.TOPICS: topics, wire.JOB: job_id, wire.TRACE: trace_id}
    return {**known, wire.COME: "1"} if come else known


async def travel_of(
    services: Services, caller: Caller, job_id: str, trace_id: str
) -> dict[str, str] | None:
    """Return the identity of a new job of the caller; None: it does not travel.

    It travels over the caller's own set of topics, else over the first one of their tenant.
    """
    sets = [
        (transport.name, each)
        for transport in services.transports
        for each in transport.jobs
        if each.door == NAME
    ]
    if not sets:
        return None
    tenant = await services.store.tenant_name(caller)
    mine = [
        each.name_at(name)
        for name, each in sorted(
            ((name, each) for name, each in sets if each.tenant == tenant),
            key=lambda one: one[1].user != caller.user_name,
        )
    ]
    return identity_of(mine[0], job_id, trace_id) if mine else None
