"""The port `topics`: records with keys and headers, for programs that are not weft's.

PostgreSQL stays the record: what is read twice must do no harm, and what is written may be written
twice. Built in: `kafka`, and for events `rabbitmq`, too. Loaded by the entry points `weft.topics`
and `weft.event_sinks`; each is called with a `Connection`.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID

from weft.ports.plugins import PluginGroup
from weft.ports.transport import Connection
from weft.wire.documents.simulations import SimulationDocument


class Record(NamedTuple):
    """A record to write; those of one key stay in order. Where those before it can be refused and
    it is not, that holds of each part of the key.
    """

    topic: str
    key: str
    value: bytes
    headers: Mapping[str, str]
    needs_reader: bool = False
    """It is not confirmed if nobody reads; where records stay for later readers, that is never."""
    parts: Sequence[int] = ()
    """Of which parts of what the key names it tells, as of jobs of a batch; none: of all."""


class RecordAt(NamedTuple):
    """Where a record is."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True)
class Arrival:
    """A record that has come; anybody may have written it."""

    at: RecordAt
    value: bytes
    headers: Mapping[str, bytes]
    """Of headers with one name the last."""
    acknowledge: Callable[[], None]
    """Note that it is done: it does not come again when all before it are done, too."""


class Positions(dict[tuple[str, int], int]):
    """What is to be read next of each partition."""


class EventSink(Protocol):
    """A connection over which events go out. Calls raise `TransportError` if it is unreachable."""

    async def make(self, partitions: Mapping[str, int]) -> None:
        """Make the topics that there are not, each with its number of partitions."""

    async def publish(self, records: Sequence[Record]) -> Sequence[bool]:
        """Write records, in order; return which of them all replicas in step have."""

    async def close(self) -> None:
        """End the connection, if there is one."""


class Topics(EventSink, Protocol):
    """A connection to the topics of a cluster. Calls raise `TransportError` if it is away."""

    def consume(
        self, group: str, topic: str, *, limit: int
    ) -> AbstractAsyncContextManager[AsyncIterator[Arrival]]:
        """Be a member of a group; get the records of the topic's partitions that it has, at most
        `limit` that are not acknowledged. A group begins with the first record.
        """

    def follow(
        self, topics: Collection[str], since: Positions
    ) -> AbstractAsyncContextManager[AsyncIterator[Arrival]]:
        """Get all records of topics from these positions on, which move along; a partition that
        has none begins now. Nothing needs to be acknowledged.
        """


class RunAnswer(NamedTuple):
    """What is with a run that a record asks for."""

    answer: str
    """`run`: it is the caller's; `running`: somebody who lives has it; `success`, `failure`."""
    error: str | None = None
    """With which it failed."""


class RunLedger(Protocol):
    """Which runs have begun, and how they ended, by the ids of their records."""

    async def begin_run(
        self, event_id: UUID, owner: str, *, keep_s: float, tenant: str, record: Mapping[str, Any]
    ) -> RunAnswer:
        """Begin a run, unless another incarnation that lives has it or it has ended. A run is
        remembered for `keep_s` seconds. `record`: its `job_id`, `trace_id` and `event_id`, and
        the `door` of its set.
        """

    async def end_run(self, event_id: UUID, owner: str, *, is_failed: bool, error: str) -> None:
        """Note how a run of this owner ended."""


@dataclass(frozen=True, kw_only=True)
class JobTopics:
    """A set of topics over which a worker of simulations gets and runs jobs."""

    name: str
    """What jobs call it that travel over it."""
    topics: Topics
    tenant: str
    """Whose jobs they are."""
    door: str
    """Through which its own came."""
    ledger: RunLedger
    group: str
    """Of all who run jobs."""
    limit: int
    """How many runs it has at a time."""
    answer_s: float
    """After this time without an outcome, beyond what its steps take, a run is asked for again."""
    keep_s: float
    """How long the ledger remembers a run."""
    refusal: Callable[[SimulationDocument], str | None]
    """Says why this worker runs no such job; None: it does."""


TopicsFactory = Callable[[Connection], Topics]
TOPICS_PLUGINS: Final = PluginGroup[TopicsFactory]("weft.topics", "topics")
EventSinkFactory = Callable[[Connection], EventSink]
EVENT_SINK_PLUGINS: Final = PluginGroup[EventSinkFactory]("weft.event_sinks", "event sink")
