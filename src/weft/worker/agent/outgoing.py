"""What goes to the spawner: claimed jobs as processes and calls, in messages of a bounded size."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from weft.core.attempt_key import AttemptKey
from weft.core.errors import WeftError
from weft.ports.executor import Executor, ExecutorLimits, Reservation
from weft.ports.store import Claimed
from weft.wire.spawner import Start, StartProcess
from weft.wire.spec import JobSpec
from weft.worker.agent.spawner_link import SpawnerLink
from weft.worker.agent.specs import ChunkKey

MESSAGE_BYTES: Final = 8 << 20
CHUNKS_A_PART: Final = 128
"""A chunk holds up to 256 KiB, or one spec of any size."""


def parts_of(claimed: Sequence[Claimed]) -> Iterator[Sequence[Claimed]]:
    """Cut what was claimed so that the specs of a part have room in memory."""
    places: set[ChunkKey] = set()
    begin = 0
    for index, one in enumerate(claimed):
        places.add((one.batch_id, one.chunk_first))
        if len(places) > CHUNKS_A_PART:
            yield claimed[begin:index]
            places = {(one.batch_id, one.chunk_first)}
            begin = index
    yield claimed[begin:] if begin else claimed


def shared_by(one: Claimed, spec: JobSpec | None) -> ChunkKey | None:
    """Return the job whose spec holds what this one leaves out."""
    if spec is None or spec.shares is None:
        return None
    return one.batch_id, spec.shares if spec.shares > 0 else one.job_id + spec.shares


class Outgoing:
    """Messages that are being filled. What many processes share stands in each message once."""

    def __init__(
        self,
        link: SpawnerLink,
        executors: Mapping[str, Executor],
        limits: ExecutorLimits,
        shared: Mapping[ChunkKey, JobSpec],
    ) -> None:
        self._link = link
        self._executors = executors
        self._limits = limits
        self._shared = shared
        self._begin()

    def add(self, key: AttemptKey, one: Claimed, spec: JobSpec | None) -> None:
        """Add one job. Raise `WeftError` if it cannot be run."""
        if spec is None:
            raise WeftError("its spec is missing")
        executor = self._executors.get(spec.executor)
        if executor is None:
            raise WeftError(f"this worker has no executor {spec.executor!r}")
        process = executor.start_of(
            key,
            spec,
            self._limits,
            reserved=Reservation(cpu_m=one.cpu_m, memory_mib=one.memory_mib),
            environment=self._environment(executor.environment_of(spec)),
            definition=self._definition(executor, one, spec),
        )
        self._message.processes.append(process)
        self._bytes += _size_of(process)
        if self._bytes > MESSAGE_BYTES:
            self.send()

    def send(self) -> None:
        """Send what is there."""
        if self._message.processes:
            self._link.send(self._message)
            self._begin()

    def _begin(self) -> None:
        self._message = Start([], [], [])
        self._bytes = 0
        self._environments: dict[int, int] = {}
        self._definitions: dict[ChunkKey, int | None] = {}

    def _environment(self, environment: dict[str, str]) -> int:
        place = self._environments.get(id(environment))
        if place is None:
            place = self._environments[id(environment)] = len(self._message.environments)
            self._message.environments.append(environment)
        return place

    def _definition(self, executor: Executor, one: Claimed, spec: JobSpec) -> int | None:
        """Return the place of what the job shares, or brings itself: then it is the first of its
        chunk.
        """
        source = shared_by(one, spec)
        found = executor.definition_of(spec) if source is None else None
        if source is None:
            if found is None:
                return None
            source = (one.batch_id, one.chunk_first)
        if source not in self._definitions:
            if source in self._shared:
                found = executor.definition_of(self._shared[source])
            self._definitions[source] = None if found is None else len(self._message.definitions)
            if found is not None:
                self._message.definitions.append((source[1], found))
                self._bytes += len(found)
        return self._definitions[source]


def _size_of(process: StartProcess) -> int:
    """Return about how long the long fields are."""
    texts = len(process.stdin or "") + len(process.script or "") + sum(map(len, process.argv))
    return texts + (len(process.warm.body) if process.warm else 0)
