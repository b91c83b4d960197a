"""What the besieged weft is given to do: batches of many kinds, drawn from the seed."""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weft.client.api import Api, Document
from weft.core.errors import NotFound
from weft_siege.evidence import CPU_M, STORING, Evidence, Planned
from weft_siege.network import SINK

OPEN_JOBS_MAX = 400
"""More wait for those that run, so that a siege ends soon after its last fault."""
GATEWAY_OPEN_MAX = 3
PAUSE_S = (0.1, 0.8)
LONG_S = 25.0
STORED_BYTES_MAX = 1 << 20
LARGE_BYTES = 10 << 20
OF_GATEWAY = "of a gateway"
SERVICE = "service"
"""What of it ends begins again."""
FAILING = (2, 3)
"""Those of the jobs with files that fail."""


@dataclass(frozen=True)
class Batch:
    """A batch that was accepted, its jobs by number, and the file in which they write."""

    kind: str
    batch_id: int
    jobs: Sequence[Planned]
    evidence: Evidence
    overspent: list[str] = field(default_factory=list)
    """What was seen of its limit that must not be, while there was one."""
    cpu_m: int = CPU_M
    """What each of its jobs reserves."""

    @property
    def told_as(self) -> Sequence[str]:
        """Return under which addresses its end, or that of each job of a line, must be told."""
        if self.kind == "line":
            return [f"{SINK}/b{self.batch_id}.j{job}" for job in range(1, len(self.jobs) + 1)]
        return [] if self.kind in {"scheduled", "noticed"} else [self.evidence.path.name]


async def find_batch(client: Api, batch: Batch) -> Document | None:
    """Return what the api knows of a batch; None if it is lost."""
    with suppress(NotFound):
        return await client.get_batch(batch.batch_id)
    return None


class Load:
    """Submits until it is told to stop."""

    def __init__(
        self, seed: int, directory: Path, clients: Sequence[Api], port: int, mark: str
    ) -> None:
        self._mark = mark
        self.drop: Callable[[int], None] | None = None
        """Lets files appear for a production line, if there is one."""
        self._watches: list[asyncio.Task[None]] = []
        self.also: list[Callable[[Api, Evidence], Awaitable[None]]] = []
        """Kinds of work from elsewhere."""
        self.batches: list[Batch] = []
        self.queue = ""
        """One that travels over a broker, if there is one."""
        self.has_gateway = False
        self._at_gateway: list[Batch] = []
        self.store = ""
        """One where jobs leave files, if there is one."""
        self.chance = random.Random(seed)  # noqa: S311 (to be repeated, not to be secret)
        self._directory = directory
        self._clients = clients
        self._told_at = f"http://127.0.0.1:{port}"
        self._told = asyncio.Event()
        self._numbers = itertools.count(1)

    def watch(self, going_on: Coroutine[Any, Any, None]) -> None:
        """Let this go on beside other work, and wait for its end in the end."""
        self._watches.append(asyncio.create_task(going_on))

    def stop(self) -> None:
        """Submit no further batch."""
        self._told.set()

    def is_over(self) -> bool:
        """Say whether it was told to stop."""
        return self._told.is_set()

    def new_evidence(self) -> Evidence:
        """Return the file of another batch."""
        name = f"evidence-{self._mark}-{next(self._numbers)}"
        return Evidence(self._directory / name, self._mark)

    async def run(self) -> None:
        """Submit one batch after the other, of kinds by turns."""
        kinds = (
            self._mixed,
            self._seconds,
            self._failing,
            self._graph,
            self._growing,
            self._array,
            self._cancelled_group,
            self._service,
            self._keyed,
            self._started,
            self._answered,
            self._blocked,
            *self.also,
            *([self._stored] if self.store else ()),
            *([self._of_gateway] if self.has_gateway else ()),
            *([self._dropped] if self.drop else ()),
            *([self._travelling] if self.queue else ()),
        )
        while not self.is_over():
            for kind in self.chance.sample(kinds, len(kinds)):
                if self.is_over():
                    break
                client = self.chance.choice(self._clients)
                await kind(client, self.new_evidence())
                await self._until_room(client)
                await asyncio.sleep(self.chance.uniform(*PAUSE_S))
        await asyncio.gather(*self._watches)

    async def _until_room(self, client: Api) -> None:
        while not self.is_over():
            newest = [batch for batch in self.batches[-20:] if len(batch.jobs) < OPEN_JOBS_MAX]
            found = [await find_batch(client, batch) for batch in newest]
            if sum(one["n_jobs"] - one["n_completed"] for one in found if one) < OPEN_JOBS_MAX:
                break
            await asyncio.sleep(PAUSE_S[1])

    async def submit(
        self,
        client: Api,
        kind: str,
        evidence: Evidence,
        jobs: Sequence[Planned],
        documents: Sequence[Mapping[str, Any]] | None = None,
        **fields: Any,  # noqa: ANN401 (JSON)
    ) -> Batch:
        """Submit; the end is told to us."""
        documents = documents or [job.document for job in jobs]
        fields["callback"] = f"{self._told_at}/{evidence.path.name}"
        answer = await client.create_batch({"name": kind, "jobs": documents, **fields})
        batch = Batch(kind, answer["id"], jobs, evidence)
        if answer["id"] not in {one.batch_id for one in self.batches}:
            self.batches.append(batch)
        return batch

    async def _mixed(self, client: Api, evidence: Evidence) -> None:
        jobs = evidence.mix(self.chance.randrange(50, 200), self.chance.randrange(1000))
        await self.submit(client, "mixed", evidence, jobs)

    async def _seconds(self, client: Api, evidence: Evidence) -> None:
        """Some outlast the time after which a silent worker is given up."""
        times = [*[self.chance.uniform(0.5, 4) for _ in range(20)], *[LONG_S] * 4]
        jobs = [evidence.slow(seconds) for seconds in times]
        await self.submit(client, "seconds", evidence, jobs)

    async def _failing(self, client: Api, evidence: Evidence) -> None:
        """Half of the jobs fail; the child of one that does is cancelled."""
        child = replace(evidence.endless(), document=evidence.quick().document)
        jobs = [evidence.failing(), after(child, 1), *[evidence.failing(), evidence.quick()] * 5]
        await self.submit(client, "failing", evidence, jobs)

    async def _graph(self, client: Api, evidence: Evidence) -> None:
        """Twenty, one that waits for all of them, and twenty that wait for that."""
        first, last = [evidence.quick()] * 20, [after(evidence.quick(), 21)] * 20
        await self.submit(
            client, "graph", evidence, [*first, after(evidence.slow(0.1), [1, 20]), *last]
        )

    async def _growing(self, client: Api, evidence: Evidence) -> None:
        jobs = evidence.mix(20, self.chance.randrange(1000))
        batch = await self.submit(client, "growing", evidence, jobs)
        for number in range(1, 4):
            more = evidence.mix(20, number)
            await client.create_update(batch.batch_id, {"jobs": [job.document for job in more]})
            jobs += more

    async def _array(self, client: Api, evidence: Evidence) -> None:
        job = evidence.quick()
        documents = [{**job.document, "count": 100}]
        await self.submit(client, "array", evidence, [job] * 100, documents)

    async def _cancelled_group(self, client: Api, evidence: Evidence) -> None:
        doomed = replace(
            evidence.endless(), document={**evidence.endless().document, "group": "/doomed"}
        )
        jobs = [*[doomed] * 6, *[evidence.quick()] * 10]
        groups = [{"path": "/doomed"}]
        batch = await self.submit(client, "cancelled group", evidence, jobs, groups=groups)
        await asyncio.sleep(self.chance.uniform(0, 2))
        await client.cancel_group(batch.batch_id, "/doomed")

    async def _service(self, client: Api, evidence: Evidence) -> None:
        """A service that ends again and again, until it is cancelled."""
        document = {
            **evidence.quick().document,
            "service": {},
            "name": f"service {evidence.path.name}",
        }
        service = replace(evidence.endless(), document=document)
        batch = await self.submit(client, SERVICE, evidence, [service])
        await asyncio.sleep(self.chance.uniform(0, 2))
        await client.cancel_batch(batch.batch_id)

    async def _keyed(self, client: Api, evidence: Evidence) -> None:
        """A batch with a key, submitted at each api at the same moment: there is one."""
        jobs = [evidence.slow(0.5), evidence.quick()]
        unique = {"key": evidence.path.name, "within_s": 3600}
        submitting = [
            self.submit(api, "keyed", evidence, jobs, unique=unique)
            for api in (client, *self._clients)
        ]
        await asyncio.gather(*submitting)

    async def _started(self, client: Api, evidence: Evidence) -> None:
        """One that waits for the start of another, and one for its end, whatever it is."""
        needs = [{"of": 1, "need": "start"}], [{"of": 1, "need": "end"}]
        jobs = [evidence.failing(), *(after(evidence.quick(), *need) for need in needs)]
        await self.submit(client, "started", evidence, jobs)

    async def _answered(self, client: Api, evidence: Evidence) -> None:
        """A job that waits for a person, whom each api hears at the same moment, and its child."""
        jobs = [evidence.asked(), after(evidence.quick(), 1)]
        batch = await self.submit(client, "answered", evidence, jobs)
        answering = [api.answer_job(batch.batch_id, 1) for api in (client, *self._clients)]
        await asyncio.gather(*answering)

    async def _blocked(self, client: Api, evidence: Evidence) -> None:
        """Jobs that wait until something is there, and go on by themselves."""
        gate = evidence.path.with_suffix(".gate")
        await self.submit(client, "blocked", evidence, [evidence.blocked(gate)] * 4)
        later = asyncio.get_running_loop().call_later
        later(self.chance.uniform(0, 8), gate.touch)

    async def _travelling(self, client: Api, evidence: Evidence) -> None:
        """Jobs that workers get over a broker; some outlast the time of a silent worker."""
        jobs = [*evidence.mix(40, self.chance.randrange(1000)), evidence.slow(LONG_S)]
        jobs = [replace(job, document={**job.document, "queue": self.queue}) for job in jobs]
        await self.submit(client, "travelling", evidence, jobs)

    async def _stored(self, client: Api, evidence: Evidence) -> None:
        """Jobs that leave files in a bucket, one of them in parts, and some that fail."""
        sizes = [self.chance.randrange(1, STORED_BYTES_MAX) for _ in range(15)]
        to = f"store://{self.store}"
        jobs = [
            evidence.stored(number, to, size, fails=number in FAILING)
            for number, size in enumerate([LARGE_BYTES, *sizes], 1)
        ]
        await self.submit(client, STORING, evidence, jobs)

    async def _of_gateway(self, client: Api, evidence: Evidence) -> None:
        """Jobs that Slurm runs, unless its few nodes are behind."""
        self._at_gateway = [
            batch
            for batch in self._at_gateway
            if (found := await find_batch(client, batch)) and not found["complete"]
        ]
        if len(self._at_gateway) == GATEWAY_OPEN_MAX:
            return
        jobs = [*[evidence.quick()] * 10, *[evidence.slow(seconds) for seconds in (1, 2, 3, 9)]]
        jobs = [replace(job, document={**job.document, "executor": "slurm"}) for job in jobs]
        batch = await self.submit(client, OF_GATEWAY, evidence, jobs)
        self._at_gateway.append(batch)

    async def _dropped(self, client: Api, evidence: Evidence) -> None:  # noqa: ARG002 (as others)
        """Files for the production line."""
        assert self.drop
        self.drop(self.chance.randrange(1, 10))


def after(job: Planned, *parents: Any) -> Planned:  # noqa: ANN401 (JSON)
    """Return a job that waits for others."""
    return replace(job, document={**job.document, "parents": list(parents)})
