"""A queue whose guard changes again and again, and which runs few jobs at a time."""

import asyncio
from dataclasses import replace
from pathlib import Path

from weft.client.api import Api, Document
from weft_siege.evidence import Evidence, Planned
from weft_siege.load import Load

KIND = "guarded"
QUEUE = "narrow"
PLACES = 3
KNOWN_S = 6.0
"""After this each api knows the guard, also one that was not told."""
_GUARD = "'lane' in job.attributes && job.attributes.lane.matches(r'^{lane}$')"


class Guards:
    """Lets each batch have a guard of its own: it takes half of the jobs, and not those that an
    older one would have taken.
    """

    def __init__(self, load: Load, places: Path) -> None:
        self._load = load
        self._places = places
        self._lane = 0
        self._changing = asyncio.Lock()

    async def submit(self, client: Api, evidence: Evidence) -> None:
        """Change the guard, and submit when it is known; other batches come in meanwhile."""
        self._load.watch(self._submit(client, evidence))

    async def _submit(self, client: Api, evidence: Evidence) -> None:
        async with self._changing:
            self._lane += 1
            guard = _GUARD.format(lane=self._lane)
            ours = {"name": QUEUE, "priority": 100, "guard": guard, "max_running": PLACES}
            await client.save_queues([ours, *await _other_queues(client)])
            await asyncio.sleep(KNOWN_S)
            taken = evidence.placed(self._places, PLACES, self._load.chance.uniform(0.5, 2))
            jobs = [
                _in_lane(taken, self._lane, QUEUE),
                _in_lane(evidence.quick(), self._lane - 1),
            ] * 6
            await self._load.submit(client, KIND, evidence, jobs)


def _in_lane(job: Planned, lane: int, queue: str = "default") -> Planned:
    document = {**job.document, "attributes": {"lane": str(lane)}}
    return replace(job, document=document, queue=queue)


async def _other_queues(client: Api) -> list[Document]:
    """Return those that stay as they are, such as one that travels."""
    return [
        {name: queue[name] for name in ("name", "priority", "transport")}
        for queue in await client.list_queues()
        if queue["name"] not in {QUEUE, "default"}
    ]
