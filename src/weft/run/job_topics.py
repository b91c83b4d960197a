"""The topics of jobs, as the operator names them in `transports_file`, for each role."""

from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.core.errors import Invalid
from weft.core.problems import Problems
from weft.ports.topics import (
    EVENT_SINK_PLUGINS,
    TOPICS_PLUGINS,
    EventSink,
    JobTopics,
    RunLedger,
    Topics,
)
from weft.run.doors import api_doors, installed_doors
from weft.settings import Settings
from weft.settings.transports_file import TransportDocument, named_connections
from weft.submission.translation.simulations import check_steps
from weft.wire.documents.simulations import SimulationDocument

if TYPE_CHECKING:
    from weft.api.services import Services


class NoTopics(Invalid):
    """A door whose jobs cannot travel over topics, or that is not installed."""

    code = "TRANSPORT.NO_TOPICS"


class Opened(NamedTuple):
    """A connection, and what the file says of it."""

    document: TransportDocument
    topics: Topics


@asynccontextmanager
async def opened_topics(settings: Settings) -> AsyncIterator[Sequence[Opened]]:
    """Yield the connections over which jobs of doors travel; none are connected yet."""
    found = [
        Opened(document, TOPICS_PLUGINS.load(connection.kind)(connection))
        for document, connection in named_connections(settings.transports_file, "jobs")
    ]
    for one in found:
        _group_of(one.document)
    try:
        yield found
    finally:
        for one in found:
            await one.topics.close()


@asynccontextmanager
async def opened_event_sinks(
    settings: Settings,
) -> AsyncIterator[Sequence[tuple[TransportDocument, EventSink]]]:
    """Yield the connections to which events of tenants go; none are connected yet."""
    found = [
        (document, EVENT_SINK_PLUGINS.load(connection.kind)(connection))
        for document, connection in named_connections(settings.transports_file, "events")
    ]
    try:
        yield found
    finally:
        for _, sink in found:
            await sink.close()


@asynccontextmanager
async def opened_job_topics(
    settings: Settings, ledger: RunLedger | None
) -> AsyncIterator[JobTopics | None]:
    """Yield that over which this worker gets and runs jobs; None: there is none."""
    async with opened_topics(settings) as found:
        one = next((one for one in found if one.document.jobs is not None), None)
        if one is None or ledger is None:
            yield None
            return
        assert one.document.jobs is not None
        yield JobTopics(
            name=one.document.name,
            tenant=one.document.jobs.tenant,
            topics=one.topics,
            ledger=ledger,
            group=_group_of(one.document),
            limit=1,
            answer_s=settings.topics_answer_s,
            keep_s=settings.topics_keep_s,
            refusal=partial(_refusal, settings),
        )


def _refusal(settings: Settings, simulation: SimulationDocument) -> str | None:
    problems = Problems()
    check_steps(simulation, settings, problems, "/steps")
    if not problems.found:
        return None
    return "; ".join(f"{one.pointer}: {one.message}" for one in problems.error().errors)[:1000]


def intakes(services: "Services", found: Sequence[Opened]) -> Sequence[Coroutine[Any, Any, None]]:
    """Return what takes in the jobs that records bring."""
    doors = {door.name: door for door in api_doors()}
    return [
        door.intake(services, one.topics, one.document)
        for one in found
        if one.document.jobs is not None
        and (door := doors[one.document.jobs.door]).intake is not None
    ]


def _group_of(document: TransportDocument) -> str:
    assert document.jobs is not None
    groups = {door.name: door.workers_group for door in installed_doors()}
    group = groups.get(document.jobs.door)
    if group is None:
        able = ", ".join(name for name, one in groups.items() if one is not None)
        raise NoTopics(
            f"jobs of the door {document.jobs.door!r} cannot travel over topics",
            detail=f"The transport {document.name} names it in transports_file. "
            f"Doors whose jobs can: {able}.",
            hint="Correct `jobs.door`.",
        )
    return document.jobs.group or group
