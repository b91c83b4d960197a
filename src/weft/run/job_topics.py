"""The topics of jobs, as the operator names them in `transports_file`, for each role."""

from collections.abc import AsyncIterator, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.core.errors import Invalid
from weft.core.problems import Problems
from weft.ports.topics import (
    EVENT_SINK_PLUGINS,
    TOPICS_PLUGINS,
    Arrival,
    EventSink,
    JobTopics,
    Positions,
    Record,
    RunLedger,
    Topics,
)
from weft.run.doors import api_doors, installed_doors
from weft.run.transports import closed_at_end
from weft.settings import Settings
from weft.settings.transports_file import EventsDocument, JobTopicsDocument, named_sets
from weft.submission.translation.kinds import check_steps
from weft.wire.documents.simulations import SimulationDocument
from weft.wire.job_topics import PARTITIONS

if TYPE_CHECKING:
    from weft.api.services import Services


class NoTopics(Invalid, code="TRANSPORT.NO_TOPICS"):
    """A door whose jobs cannot travel over topics, or that is not installed."""


class Opened(NamedTuple):
    """A set of topics over which jobs travel, and what the file says of it."""

    name: str
    jobs: JobTopicsDocument
    topics: Topics


class _Prefixed:
    """The topics of one set, by their names without its prefix. What has come says where it is by
    the whole name; others' topics are called as they are.
    """

    def __init__(self, topics: Topics, prefix: str) -> None:
        self._topics = topics
        self._prefix = prefix
        self.close = topics.close

    async def make(self, partitions: Mapping[str, int]) -> None:
        """Make the topics that there are not."""
        await self._topics.make({self._whole(name): n for name, n in partitions.items()})

    async def publish(self, records: Sequence[Record]) -> Sequence[bool]:
        """Write records."""
        return await self._topics.publish(
            [record._replace(topic=self._whole(record.topic)) for record in records]
        )

    def consume(
        self, group: str, topic: str, *, limit: int
    ) -> AbstractAsyncContextManager[AsyncIterator[Arrival]]:
        return self._topics.consume(group, self._whole(topic), limit=limit)

    def follow(
        self, topics: Collection[str], since: Positions
    ) -> AbstractAsyncContextManager[AsyncIterator[Arrival]]:
        return self._topics.follow([self._whole(topic) for topic in topics], since)

    def _whole(self, topic: str) -> str:
        return self._prefix + topic if topic in PARTITIONS else topic


def opened_topics(settings: Settings) -> AbstractAsyncContextManager[Sequence[Opened]]:
    """Give the sets of topics over which jobs of doors travel; none are connected yet."""
    found = [
        Opened(
            jobs.name_at(connection.name),
            jobs,
            _Prefixed(TOPICS_PLUGINS.load(connection.kind)(connection), jobs.prefix),
        )
        for connection, jobs in named_sets(settings.transports_file, "jobs")
    ]
    for one in found:
        _group_of(one)
    return closed_at_end(found, (one.topics for one in found))


def opened_event_sinks(
    settings: Settings,
) -> AbstractAsyncContextManager[Sequence[tuple[str, EventsDocument, EventSink]]]:
    """Give unconnected connections to which events of tenants go, by name, with whose they are."""
    found = [
        (connection.name, events, EVENT_SINK_PLUGINS.load(connection.kind)(connection))
        for connection, events in named_sets(settings.transports_file, "events")
    ]
    return closed_at_end(found, (sink for *_, sink in found))


@asynccontextmanager
async def opened_job_topics(
    settings: Settings, ledger: RunLedger | None
) -> AsyncIterator[Sequence[JobTopics]]:
    """Yield the sets of topics over which this worker gets and runs jobs."""
    if ledger is None:
        yield []
        return
    async with opened_topics(settings) as found:
        yield [
            JobTopics(
                name=one.name,
                tenant=one.jobs.tenant,
                door=one.jobs.door,
                topics=one.topics,
                ledger=ledger,
                group=_group_of(one),
                limit=settings.topics_runs,
                answer_s=settings.topics_answer_s,
                keep_s=settings.topics_keep_s,
                refusal=partial(_refusal, settings),
            )
            for one in found
        ]


def _refusal(settings: Settings, simulation: SimulationDocument) -> str | None:
    problems = Problems()
    check_steps(simulation, settings, problems, "/steps")
    if not problems.found:
        return None
    return "; ".join(map(str, problems.error().errors))[:1000]


def intakes(services: "Services", found: Sequence[Opened]) -> Sequence[Coroutine[Any, Any, None]]:
    """Return what takes in the jobs that records bring."""
    doors = {door.name: door for door in api_doors()}
    return [
        door.intake(services, one.topics, one.name, one.jobs)
        for one in found
        if (door := doors[one.jobs.door]).intake is not None
    ]


def _group_of(one: Opened) -> str:
    jobs = one.jobs
    groups = {door.name: door.workers_group for door in installed_doors()}
    group = groups.get(jobs.door)
    if group is None:
        able = ", ".join(name for name, one in groups.items() if one is not None)
        raise NoTopics(
            f"jobs of the door {jobs.door!r} cannot travel over topics",
            detail=f"The transport {one.name} names it in transports_file. "
            f"Doors whose jobs can: {able}.",
            hint="Correct `jobs.door`.",
        )
    return jobs.group or jobs.prefix + group
