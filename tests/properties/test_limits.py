"""Everything that limits or stops jobs, at once on many connections; what really ran side by side
is judged from outside of the database.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from builders import end_report, job_rows
from properties.gate_rules import shapes_of
from properties.test_concurrency import deadlock_report, deadlocks
from store.backend import open_backend
from store.world import Worker, World, open_world
from weft.core import errors
from weft.core.pools.keep import Keep, LongWaiting, Room, keep_workers
from weft.core.queues import Queue
from weft.core.states import Reason
from weft.ports.store import Claimed, JobRows, NewGroup, Shape
from weft.submission.translation.gates import JOB_GATES, licence_gates
from weft.wire.documents.jobs import ConcurrencyKey

N_JOBS = 40
"""Of each of the updates, of which a world has three."""
KEYS = {"one": 1, "two": 2}
N_LICENCES = 3
N_CORES = 6
LARGE_CPU_M = 2000
LOOPS = ("sweep_cancelled", "settle_children", "sweep_holds", "pass_gates", "sweep_deadlines")
ENDS = (None, None, None, None, Reason.EXIT, Reason.OOM, Reason.LOST)
GROUPS = [
    NewGroup(group_id=1, parent_id=0, name="a"),
    NewGroup(group_id=2, parent_id=1, name="b"),
    NewGroup(group_id=3, parent_id=0, name="c"),
]
_OVERLAPS = """
    WITH used AS (
        SELECT a.*, y.key, y.cost FROM weft.attempt a
        JOIN weft.job j USING (batch_id, job_id)
        JOIN weft.gate_member m ON m.gate_set_id = j.gate_set_id
        JOIN weft.gate g USING (gate_id)
        CROSS JOIN LATERAL (SELECT g.kind || ' ' || g.key, m.cost) y (key, cost)
        WHERE a.batch_id = ANY ($1) AND g.kind IN ('concurrency_key', 'licence', 'cores_user')),
    point AS (
        SELECT key, claimed_at AS at, cost AS n FROM used
        UNION ALL SELECT key, ended_at, -cost FROM used)
    SELECT x.key, max(x.n)::int AS n
    FROM (SELECT key, sum(n) OVER (PARTITION BY key ORDER BY at, n) AS n FROM point) x GROUP BY 1
"""
_TWICE = """
    SELECT for_batch_id, for_job_id, for_attempt FROM weft.preemption WHERE batch_id = ANY ($1)
    GROUP BY 1, 2, 3 HAVING count(DISTINCT at) > 1
"""
_READY = "SELECT job_id FROM weft.job WHERE batch_id = $1 AND state = 1 LIMIT 20"


class Uses:
    """What runs at the moment, as workers know it: from the reply to their claim until they tell
    of the end, which is less than the database must count.
    """

    def __init__(self) -> None:
        self.wanted: dict[tuple[int, int], Counter[str]] = {}
        """By batch and job: how many it takes of each key and licence."""
        self._now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.live: set[tuple[int, int, int]] = set()
        """Attempts."""

    def begin(self, claimed: Sequence[Claimed]) -> None:
        for one in claimed:
            self.live.add((one.batch_id, one.job_id, one.attempt))
            self._now += self.wanted[one.batch_id, one.job_id]
        self.most |= self._now

    def end(self, claimed: Sequence[Claimed]) -> None:
        for one in claimed:
            self.live.discard((one.batch_id, one.job_id, one.attempt))
            self._now -= self.wanted[one.batch_id, one.job_id]


class Crowd:
    """Everybody works in one tenant until every job of its batch has ended."""

    def __init__(self, world: World, seed: int, uses: Uses, licence: str) -> None:
        self.world = world
        self.uses = uses
        self.licence = licence
        self.chance = random.Random(seed)  # noqa: S311 (guards nothing)
        self.finished = asyncio.Event()
        self.batch = 0
        self.n_jobs = 0
        self.incarnations: dict[int, int] = {}

    # ------------------------------------------------------------------ jobs

    def rows(self) -> JobRows:
        """Return jobs of which most have something that limits them."""
        chance, now = self.chance, datetime.now(UTC)
        tenant, user = self.world.caller.tenant_id, self.world.caller.user_id
        shapes = [*shapes_of(self.world.pool)[:4], Shape(cpu_m=LARGE_CPU_M)]
        rows = job_rows(
            N_JOBS,
            shapes=shapes,
            max_attempts=3,
            retry_on=[Reason.EXIT],
            shape_index=[chance.choice([0, 0, 1, 2, 3, 4]) for _ in range(N_JOBS)],
            parents={
                j: chance.sample(range(1, j), k=min(j - 1, chance.randrange(3)))
                for j in range(1, N_JOBS + 1)
            },
            group=[-chance.choice([0, 1, 2, 3]) for _ in range(N_JOBS)],
            priority=[chance.choice([0, 0, 5]) for _ in range(N_JOBS)],
        )
        for job in range(1, N_JOBS + 1):
            cpu_m = shapes[rows.shape_index[job - 1]].cpu_m
            wanted = Counter({f"cores_user t{tenant}/{user}": cpu_m})
            gates = []
            fields: dict[str, Any] = {"preemptible": chance.random() < 0.5}
            if n := chance.choice([0, 0, 1, 1, 2]):
                gates += licence_gates({self.licence: n})
                wanted[f"licence s/{self.licence}"] = n
            if key := chance.choice([None, None, *KEYS]):
                gates.append(JOB_GATES["concurrency_key"].gate(ConcurrencyKey(key, KEYS[key])))
                wanted[f"concurrency_key t{tenant}/{key}"] = 1
            if chance.random() < 0.2:
                at = now + timedelta(seconds=chance.choice([-1, 0.1, 0.5]))
                gates.append(JOB_GATES["not_before"].gate(at))
            if chance.random() < 0.2:
                at = now + timedelta(seconds=chance.choice([0.2, 0.6, 3600]))
                start = at - timedelta(seconds=chance.choice([0, 0.3]))
                fields |= {"deadline": at.isoformat(), "latest_start": start.isoformat()}
            rows.rare_job.append(job)
            rows.rare_fields.append({**fields, "gates": msgspec.to_builtins(gates)})
            self.uses.wanted[self.batch, self.n_jobs + job] = wanted
        self.n_jobs += N_JOBS
        return rows

    async def submit(self) -> None:
        for _ in range(2):
            try:
                await self.world.submit(self.rows(), batch=self.batch)
            except errors.BatchCancelled:
                return

    # ------------------------------------------------------------------ workers

    async def register(self, number: int) -> Worker:
        """Begin anew: what the worker had is lost."""
        region = ("eu", "us")[number % 2]
        worker = await self.world.worker(f"w{number}", region=region, gone=True)
        self.incarnations[number] = worker.id
        return worker

    async def work(self, number: int, worker: Worker) -> None:
        """Claim, start, stop and end; now and then begin anew."""
        chance = self.chance
        while not self.finished.is_set():
            claimed = await self.claim(worker)
            if self.chance.random() < 0.02:
                self.uses.end(claimed)
                worker = await self.register(number)
                continue
            if not claimed:
                await worker.beat()
                await asyncio.sleep(0)
                continue
            await worker.start(*claimed[::2])
            stopped = {*(await worker.beat(*claimed)).to_stop}
            reports = [
                msgspec.structs.replace(
                    end_report(one, Reason.CANCELLED if key in stopped else chance.choice(ENDS)),
                    stdout_bytes=chance.randrange(9),
                )
                for one in claimed
                for key in [(one.batch_id, one.job_id, one.attempt)]
            ]
            middle = len(claimed) // 2
            self.uses.end(claimed[middle:])
            assert set(await worker.store.complete_attempts(worker.id, reports[middle:])) <= {"ok"}
            self.uses.end(claimed[:middle])
            if middle:
                verdicts, more = await worker.end_and_claim(reports[:middle], 2)
                self.uses.begin(more)
                assert set(verdicts) == {"ok"}
                self.uses.end(more)
                await worker.end(*more)

    async def claim(self, worker: Worker) -> list[Claimed]:
        kept = await worker.claim_kept() if self.chance.random() < 0.5 else []
        self.uses.begin(kept)
        claimed = await worker.claim(self.chance.randint(1, 8))
        self.uses.begin(claimed)
        return [*kept, *claimed]

    # ------------------------------------------------------------------ people

    async def cancel(self) -> None:
        api, caller = self.world.api, self.world.caller
        for _ in range(6):
            await api.cancel_jobs(caller, self.batch, [self.chance.randint(1, N_JOBS)])
        await api.cancel_group(caller, self.batch, 3, force=False)

    async def hold(self) -> None:
        """Hold and release groups and jobs, all of them at last."""
        api, caller = self.world.api, self.world.caller
        for _ in range(10):
            group, job = self.chance.choice([0, 1, 2]), self.chance.randint(1, N_JOBS)
            await api.hold_group(caller, self.batch, group)
            await api.hold_jobs(caller, self.batch, [job])
            await asyncio.sleep(0)
            await api.release_group(caller, self.batch, group)
            await api.release_jobs(caller, self.batch, [job])

    async def move(self) -> None:
        """Move jobs between the queues, while the limits of one change."""
        for turn in range(20):
            queue = Queue(
                name="narrow",
                priority=1,
                pools=(self.world.pool,),
                max_running=self.chance.choice([1, 3, None]),
                max_running_per_user=self.chance.choice([2, None]),
            )
            await self.world.api.save_queues(self.world.caller, [queue])
            jobs = sorted(self.chance.sample(range(1, N_JOBS + 1), 15))
            await self.world.api.move_jobs(
                self.world.caller,
                self.batch,
                jobs,
                queue=("narrow", "default")[turn % 2],
                pool=self.world.pool,
            )

    async def cordon(self, number: int) -> None:
        api, caller, name = self.world.api, self.world.caller, f"w{number}"
        for _ in range(10):
            await api.cordon_worker(caller, name, self.world.pool, reason="a test")
            await asyncio.sleep(0)
            await api.uncordon_worker(caller, name, self.world.pool)

    # ------------------------------------------------------------------ the driver

    async def preempt(self) -> None:
        """Stop what runs for one that waits, again and again the same."""
        connection = await self.world.connect()
        while not self.finished.is_set():
            ready = [row["job_id"] for row in await connection.fetch(_READY, self.batch)]
            running = [*self.uses.live]
            if ready and running:
                waiting = (self.batch, self.chance.choice(ready))
                stopped = self.chance.sample(running, k=min(len(running), 3))
                for _ in range(2):
                    await self.world.driver.preempt_jobs(
                        await self.world.lead(), waiting, stopped, wait_s=0.05
                    )
            await asyncio.sleep(0)

    async def keep(self) -> None:
        """Keep workers for jobs, as the driver does and at random."""
        connection, driver = await self.world.connect(), self.world.driver
        while not self.finished.is_set():
            epoch = await self.world.lead()
            for row in await driver.reserve_rounds(epoch, after_s=0):
                jobs = msgspec.convert(row["jobs"], list[LongWaiting])
                rooms = msgspec.convert(row["workers"], list[Room])
                if kept := keep_workers(jobs, rooms, after_s=0):
                    await driver.add_reservations(epoch, kept)
            ready = [row["job_id"] for row in await connection.fetch(_READY, self.batch)]
            if ready:
                worker = self.incarnations[self.chance.randrange(3)]
                one = Keep(worker, self.batch, self.chance.choice(ready))
                await driver.add_reservations(epoch, [one])
            await asyncio.sleep(0)

    async def watch(self) -> None:
        """Fold until all has ended."""
        while not self.finished.is_set():
            await self.world.fold()
            document = await self.world.api.get_batch(self.world.caller, self.batch)
            assert min(v for k, v in document.items() if k.startswith("n_")) >= 0
            if self.submitted.done() and self.cordoned.done() and document["complete"]:
                self.finished.set()

    async def run(self) -> None:
        """Do all of it at once."""
        self.batch = await self.world.submit(0, groups=GROUPS)
        queue = Queue(name="narrow", priority=1, pools=(self.world.pool,), max_running=2)
        await self.world.api.save_queues(self.world.caller, [queue])
        ada = self.world.caller
        await self.world.api.set_quota(ada, ada.user_name, {"cores": N_CORES, "bytes": 10**9})
        await self.world.submit(self.rows(), batch=self.batch)
        workers = [await self.register(number) for number in range(3)]
        async with asyncio.TaskGroup() as group:
            for number, worker in enumerate(workers):
                group.create_task(self.work(number, worker))
            self.submitted = group.create_task(self.submit())
            people = (self.cancel(), self.hold(), self.move())
            for call in (*people, self.preempt(), self.keep()):
                group.create_task(call)
            self.cordoned = group.create_task(self.cordon(1))
            group.create_task(self.watch())


async def drive(world: World, loop: str, finished: asyncio.Event) -> None:
    """Let one loop of the driver go round, beside the others."""
    while not finished.is_set():
        await world.driver.sweep(loop, await world.lead(), limit_jobs=20)
        await asyncio.sleep(0)


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(3))
async def test_no_limit_is_exceeded_when_all_work_at_once(
    database: dict[str, str], seed: int
) -> None:
    """Two tenants share a licence."""
    async with (
        open_backend(database) as backend,
        open_world(backend) as world,
        open_world(backend) as other,
    ):
        uses, licence = Uses(), f"l-{world.pool}"
        await world.lead()
        await world.api.set_licence(world.caller, licence, N_LICENCES)
        crowds = [Crowd(one, seed + n, uses, licence) for n, one in enumerate((world, other))]
        finished = asyncio.Event()
        async with asyncio.timeout(100), asyncio.TaskGroup() as group:
            for loop in LOOPS:
                group.create_task(drive(world, loop, finished))
            await asyncio.gather(*[crowd.run() for crowd in crowds])
            finished.set()
        await world.fold()
        batches = [crowd.batch for crowd in crowds]
        overlaps = await world.admin.fetch(_OVERLAPS, batches)

        for batch in batches:
            assert not set(await world.states(batch)) - set("sfec")
        for name, n in [*uses.most.items(), *((row["key"], row["n"]) for row in overlaps)]:
            kind, _, key = name.partition(" ")
            most = {"licence": N_LICENCES, "cores_user": N_CORES * 1000}.get(kind)
            assert n <= (most or KEYS[key.split("/")[1]])
        assert await world.admin.fetch(_TWICE, batches) == []
        # There is one lock order for all (ADR 0008).
        assert await deadlocks(world) == 0, await deadlock_report(world)
