"""The specs of claimed jobs, by chunks, the last used ones kept."""

from collections import OrderedDict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from weft.ports.store import Claimed, WorkerStore
from weft.wire.spec import JobSpec, decode_chunk

_KEPT_BYTES_MAX = 16 << 20
# A spec in memory takes several times the room of its compressed form.
_BLOW_UP = 16

Place = tuple[int, int]
"""Batch and first job of a chunk."""


class Specs:
    """Read chunks through the store, each once while it is in use."""

    def __init__(self, store: WorkerStore) -> None:
        self._store = store
        self._chunks: OrderedDict[Place, tuple[int, Sequence[JobSpec]]] = OrderedDict()
        self._bytes = 0

    async def read(self, claimed: Sequence[Claimed]) -> list[JobSpec | None]:
        """Return the spec of each; `None` where the database has none."""
        for one in claimed:
            if one.chunk is not None:
                self._keep((one.batch_id, one.chunk_first), one.chunk)
        await self._fetch({(one.batch_id, one.chunk_first) for one in claimed})
        specs = [self._spec_of(one) for one in claimed]
        self._drop_oldest()
        return specs

    async def read_shared(self, places: AbstractSet[Place]) -> dict[Place, JobSpec]:
        """Return the specs of jobs that others share, by batch and job: each is the first of its
        chunk. Left out is what the database has not.
        """
        await self._fetch(places)
        found = {place: self._chunks[place][1][0] for place in places if place in self._chunks}
        for place in found:
            self._chunks.move_to_end(place)
        self._drop_oldest()
        return found

    async def _fetch(self, places: AbstractSet[Place]) -> None:
        wanted = [place for place in places if place not in self._chunks]
        if wanted:
            bodies = await self._store.get_chunks(
                [place[0] for place in wanted], [place[1] for place in wanted]
            )
            for place, body in bodies.items():
                self._keep(place, body)

    def _keep(self, place: Place, body: bytes) -> None:
        if place not in self._chunks:
            size = len(body) * _BLOW_UP
            self._chunks[place] = (size, decode_chunk(body))
            self._bytes += size

    def _spec_of(self, one: Claimed) -> JobSpec | None:
        place = (one.batch_id, one.chunk_first)
        if place not in self._chunks:
            return None
        self._chunks.move_to_end(place)
        specs = self._chunks[place][1]
        index = one.job_id - one.chunk_first
        return specs[index] if index < len(specs) else None

    def _drop_oldest(self) -> None:
        while self._bytes > _KEPT_BYTES_MAX and self._chunks:
            _, (size, _) = self._chunks.popitem(last=False)
            self._bytes -= size
