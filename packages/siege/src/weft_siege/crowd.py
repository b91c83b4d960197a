"""A crowd: arrays of thousands of jobs that only say that they ran. It comes last in each queue,
and fills what the other batches leave.
"""

import asyncio
import random
from collections.abc import Sequence

from weft.client.api import Api
from weft_siege.load import Batch, Load, find_batch

KIND = "crowd"
OPEN_JOBS_MAX = 1500
"""Some ten seconds of work, so that a siege ends soon after its last fault."""
JOBS = (500, 1000)
PRIORITY = -1
PAUSE_S = (7.0, 11.0)
"""Not without end: other kinds of work need the machine, too."""


class Crowd:
    """Keeps some thousand small jobs open until its load is told to stop."""

    def __init__(self, seed: int, load: Load, clients: Sequence[Api]) -> None:
        self._chance = random.Random(seed)  # noqa: S311 (to be repeated, not to be secret)
        self._load = load
        self._clients = clients

    async def run(self) -> None:
        """Submit an array whenever there is room."""
        crowd: list[Batch] = []
        while not self._load.is_over():
            client = self._chance.choice(self._clients)
            found = [(batch, await find_batch(client, batch)) for batch in crowd]
            left = [(batch, at["n_jobs"] - at["n_completed"]) for batch, at in found if at]
            crowd = [batch for batch, count in left if count]
            if sum(count for _, count in left) < OPEN_JOBS_MAX:
                crowd.append(await self._submit(client))
            await asyncio.sleep(self._chance.uniform(*PAUSE_S))

    async def _submit(self, client: Api) -> Batch:
        evidence, count = self._load.new_evidence(), self._chance.randrange(*JOBS)
        job = evidence.brief()
        documents = [{**job.document, "count": count, "priority": PRIORITY}]
        return await self._load.submit(client, KIND, evidence, [job] * count, documents)
