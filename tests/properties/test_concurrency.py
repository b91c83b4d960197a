"""Many at once: claimers, completers, a canceller, a folder and a submitter."""

import asyncio
import random
import re
from contextlib import suppress
from pathlib import Path

import pytest

from builders import end_report, job_rows
from store.backend import open_backend
from store.barriers import change_limit, licence
from store.world import Worker, World, open_world
from weft.core import errors
from weft.core.errors import JobEnded
from weft.core.queues import Queue
from weft.core.states import Reason
from weft.driver.operations import advance_operation
from weft.ports.store import Claimed, EditLimits, JobRows, NewGroup, Shape

N_JOBS = 240
LIMITS = EditLimits(attributes_max=64, rename_groups_max=1000)
SHAPES = [Shape(), Shape(gpu=1), Shape(gpu=2, storage_mib=100_000)]
NARROW = Shape(words=(("queue", "narrow"),))
"""Of a queue with limits."""
ENDS = (None, None, None, None, Reason.EXIT, Reason.OOM, Reason.LOST, Reason.PREEMPTED)
GROUPS = [
    NewGroup(group_id=1, parent_id=0, name="a"),
    NewGroup(group_id=2, parent_id=1, name="b", cancel_after_n_failures=25),
    NewGroup(group_id=3, parent_id=0, name="c"),
    NewGroup(group_id=4, name="x", is_set=True),
    NewGroup(group_id=5, name="y", is_set=True, cancel_after_n_failures=40),
]


class Bustle:
    """Everybody works until every job has ended."""

    def __init__(self, world: World, seed: int, *, gated: bool) -> None:
        self.world = world
        self.gated = gated
        self.chance = random.Random(seed)  # noqa: S311 (guards nothing)
        self.batches: list[int] = []
        self.finished = asyncio.Event()

    def rows(self, n_jobs: int, *, earlier: int) -> JobRows:
        """Return jobs with parents among themselves and the earlier ones."""
        chance = self.chance
        parents = {
            job: {
                *chance.sample(range(1, job), k=min(job - 1, chance.randrange(3))),
                *(-chance.randint(1, earlier) for _ in range(chance.randrange(2)) if earlier),
            }
            for job in range(1, n_jobs + 1)
        }
        sometimes = [chance.random() < 0.2 for _ in range(n_jobs)]
        groups = [-chance.choice([0, 1, 2, 3]) for _ in range(n_jobs)]
        lanes = [chance.choice([0, 0, 0, 1, 2, 3, 3]) for _ in range(n_jobs)]
        return job_rows(
            n_jobs,
            shapes=[*SHAPES, NARROW],
            shape_index=lanes,
            parents=parents,
            group=groups,
            always_run=sometimes,
            priority=[chance.choice([0, 0, 5]) for _ in range(n_jobs)],
            max_attempts=3,
            retry_on=[Reason.EXIT],
            sets={job: chance.choice([(-4,), (-5,), (-4, -5)]) for job in range(3, n_jobs, 3)},
        )

    async def submit(self, batch: int) -> None:
        """Add updates while others work."""
        for part in range(1, 4):
            try:
                await self.world.submit(
                    self.rows(N_JOBS // 4, earlier=part * N_JOBS // 4), batch=batch
                )
            except errors.BatchCancelled:
                return

    async def work(self, worker: Worker) -> None:
        """Claim, start and end, with a repeat and a stranger's report now and then; some ends go
        with the next claim.
        """
        claimed: list[Claimed] = []
        while not self.finished.is_set():
            claimed = claimed or await worker.claim(self.chance.randint(1, 12))
            if not claimed:
                await worker.beat()
                await asyncio.sleep(0)
                continue
            if self.chance.random() < 0.3:
                await worker.start(*claimed[::2])
            reports = [end_report(one, self.chance.choice(ENDS)) for one in claimed]
            middle = len(reports) // 2
            parts = [reports[middle:], reports[: self.chance.randrange(2)]]
            telling = asyncio.gather(
                *[worker.store.complete_attempts(worker.id, part) for part in parts]
            )
            verdicts, claimed = await worker.end_and_claim(
                reports[:middle], self.chance.randint(1, 12)
            )
            assert {*verdicts, *(one for part in await telling for one in part)} <= {"ok"}

    async def drive(self) -> None:
        """Fold and sweep until all has ended."""
        while not self.finished.is_set():
            await self.world.fold()
            await self.world.driver.sweep(
                "sweep_cancelled", await self.world.lead(), limit_jobs=20
            )
            await self.world.driver.sweep(
                "settle_children", await self.world.lead(), limit_jobs=20
            )
            await self.world.driver.sweep("sweep_holds", await self.world.lead(), limit_jobs=20)
            await self.world.driver.sweep("pass_gates", await self.world.lead(), limit_jobs=20)
            for operation in await self.world.driver.running_operations(await self.world.lead()):
                await advance_operation(self.world.driver, await self.world.lead(), operation)
            documents = [
                await self.world.api.get_batch(self.world.caller, b) for b in self.batches
            ]
            assert min(v for d in documents for k, v in d.items() if k.startswith("n_")) >= 0
            if self.submitted.done() and all(document["complete"] for document in documents):
                self.finished.set()

    async def cancel(self, batch: int) -> None:
        """Cancel some jobs, then a group."""
        api, caller = self.world.api, self.world.caller
        for _ in range(5):
            await api.cancel_jobs(caller, batch, [self.chance.randint(1, N_JOBS // 4)])
        await api.cancel_group(caller, batch, 3, force=False)

    async def gather_members(self, batch: int) -> None:
        """Put jobs into the sets while they run."""
        for _ in range(20):
            jobs = [self.chance.randint(1, N_JOBS // 4) for _ in range(15)]
            try:
                await self.world.api.add_members(
                    self.world.caller, batch, self.chance.choice([4, 5]), jobs
                )
            except errors.BatchCancelled:
                return

    async def hold(self, batch: int) -> None:
        """Hold and release groups and jobs, all of them at last."""
        api, caller = self.world.api, self.world.caller
        for _ in range(12):
            group = self.chance.choice([0, 1, 2, 2, 3])
            job = self.chance.randint(1, N_JOBS // 4)
            await api.hold_group(caller, batch, group)
            await api.hold_jobs(caller, batch, [job])
            for _ in range(self.chance.randrange(20)):
                await asyncio.sleep(0)
            await api.release_group(caller, batch, group)
            await api.release_jobs(caller, batch, [job])

    async def prioritize(self, batch: int) -> None:
        """Change the priority of jobs and of groups, again and again."""
        api, caller = self.world.api, self.world.caller
        for _ in range(12):
            patch = {"priority": self.chance.choice([0, 0, 5, 9, -2])}
            group = self.chance.choice([0, 1, 2, 3, 4, 5])
            await api.prioritize_group(
                caller, batch, group, patch=patch, limits=LIMITS, trace_id=""
            )
            for _ in range(5):
                with suppress(JobEnded):
                    job = self.chance.randint(1, N_JOBS // 4)
                    await api.edit_job(caller, batch, job, patch=patch, limits=LIMITS)

    async def limit(self, batch: int) -> None:
        """Raise and lower what may run at once."""
        connection = await self.world.connect()
        for _ in range(12):
            await change_limit(connection, batch, self.chance.choice([1, 2, 5, 12]))
            for _ in range(self.chance.randrange(40)):
                await asyncio.sleep(0)
            if self.finished.is_set():
                return

    async def save(self) -> None:
        """Make the queue, with other limits each time."""
        queue = Queue(
            name="narrow",
            priority=1,
            pools=(self.world.pool,),
            max_running=self.chance.choice([1, 3, 12, None]),
            max_running_per_user=self.chance.choice([1, 5, None]),
            max_waiting=100_000,
        )
        await self.world.api.save_queues(self.world.caller, [queue])

    async def limit_queue(self) -> None:
        """Raise, lower and remove what may run at once in the queue."""
        for _ in range(12):
            await self.save()
            for _ in range(self.chance.randrange(40)):
                await asyncio.sleep(0)

    async def run(self) -> None:
        """Do all of it at once."""
        if self.gated:
            await self.save()
        for _ in range(2):
            limit = self.chance.randint(1, 9) if self.gated else None
            batch = await self.world.submit(0, groups=GROUPS, max_running=limit)
            if self.gated:
                await licence(self.world, 7, batch, name="both")
            await self.world.submit(self.rows(N_JOBS // 4, earlier=0), batch=batch)
            self.batches.append(batch)
        workers = [await self.world.worker(f"w{n}", gpu=2 * n) for n in range(3)]
        self.submitted = asyncio.gather(*[self.submit(batch) for batch in self.batches])
        async with asyncio.TaskGroup() as group:
            for worker in workers:
                group.create_task(self.work(worker))
            group.create_task(self.drive())
            group.create_task(self.cancel(self.batches[0]))
            if self.gated:
                group.create_task(self.limit_queue())
            for batch in self.batches:
                group.create_task(self.gather_members(batch))
                group.create_task(self.hold(batch))
                group.create_task(self.prioritize(batch))
                if self.gated:
                    group.create_task(self.limit(batch))


@pytest.mark.slow
@pytest.mark.parametrize("gated", [False, True], ids=["free", "gated"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.heavy) for n in (1, 2))])
async def test_everything_adds_up_when_all_work_at_once(
    database: dict[str, str], seed: int, *, gated: bool
) -> None:
    """Gated: each batch has max_running; both share another gate and a queue. Limits change."""
    async with open_backend(database) as backend, open_world(backend) as world:
        bustle = Bustle(world, seed, gated=gated)
        async with asyncio.timeout(100):
            await bustle.run()
        await world.fold()
        while await world.driver.sweep("sweep_holds", await world.lead(), limit_jobs=1000):
            pass
        await world.driver.sweep("pass_gates", await world.lead(), limit_jobs=1000)
        assert await world.admin.fetchval("SELECT count(*) FROM weft.place") == 0
        for batch in bustle.batches:
            states = await world.states(batch)
            document = await world.api.get_batch(world.caller, batch)
            assert not set(states) - set("sfec")
            assert document["n_jobs"] == len(states)
        # There is one lock order for all (ADR 0008).
        assert await deadlocks(world) == 0, await deadlock_report(world)


async def deadlocks(world: World) -> int:
    return int(
        await world.admin.fetchval(
            "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        )
    )


async def deadlock_report(world: World) -> str:
    """Return what the server says about them; its log is that of many databases."""
    directory, database = await world.admin.fetchrow(
        "SELECT current_setting('data_directory'), current_database()"
    )
    log = await asyncio.to_thread((Path(directory) / "server.log").read_text)
    where = re.search(rf"@{database} LOG: +process \d+ (?:still waiting|detected deadlock)", log)
    return log[where.start() :][:8000] if where else "the log does not have it yet"
