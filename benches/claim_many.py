"""How many jobs per second are claimed and completed among 10,000 users and 100 queues.

As in `statemachine`: two processes call the real functions, while a real driver folds. Each user
has one batch in one of the queues; every tenth batch is cancelled right before the first round, so
that claims meet them. The reference is another server with 1,000 jobs of one user in one queue.
Their rounds alternate.
"""

import asyncio
from itertools import cycle
from typing import Any

import msgspec

from benches.layout import fill_small
from benches.server import BenchServer, bench_server
from weft.bench.figures import Headline, document_of, load_average, median_rate, ratio_of
from weft.bench.filled_batch import SHAPE
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.statemachine import tidy
from weft.bench.turns import Order
from weft.core.queues import Queue
from weft.ports.store import Caller

JOBS = 1_000_000
USER_JOBS = 100
"""Of each user."""
QUEUES = 100
CANCELLED_EACH = 10
"""One batch of this number is cancelled."""
FEW_JOBS = 1_000
FEW_RUNS = 5
"""Runs of the few jobs in one round: each is over within milliseconds."""
ROUNDS = 5
SIZE = 100
CORES = 4
"""Of each worker: it keeps a stock of these short jobs, as a real one does."""
GOAL = 0.8
SUBMITS_AT_ONCE = 4


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second with many users and queues, and with one, medians of the rounds."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    users = max(QUEUES, plan.jobs_of(JOBS) // USER_JOBS)
    progress.begin(rounds + 4)
    order = Order(kind="weft", size=SIZE, cores=CORES)
    async with bench_server(plan.directory) as many, bench_server(plan.directory) as few:
        progress.step("start and warm up")
        for server in (many, few):
            await server.fill_and_run(FEW_JOBS, order)
        progress.step(f"submit {users:,} batches")
        batches = await _fill(many, users)
        await tidy(many.admin_dsn)
        progress.step("cancel some")
        n_cancelled = await _cancel(many, batches)
        jobs = (users - n_cancelled) * USER_JOBS
        a_round = msgspec.structs.replace(order, jobs_max=jobs // rounds // many.runners.count)
        with_many: list[float] = []
        with_one: list[float] = []
        for number in range(1, rounds + 1):
            progress.step(f"round {number}")
            with_many.append((await many.runners.run(a_round)).rate)
            runs = [await few.fill_and_run(FEW_JOBS, order) for _ in range(FEW_RUNS)]
            with_one.append(median_rate([one.rate for one in runs]))
        progress.step("audit")
        findings = await many.findings() + await few.findings()
        sizes = {
            "users": users,
            "queues": QUEUES,
            "jobs": users * USER_JOBS,
            "rounds": rounds,
            "batches_cancelled": n_cancelled,
            "jobs_a_call": SIZE,
            "processes": many.runners.count,
        }
        conditions = await many.conditions(load_before=load, sizes=sizes)
    weft, reference = median_rate(with_many), median_rate(with_one)
    return document_of(
        Headline("jobs/s", weft, reference, ratio_of(weft, reference)),
        {
            "goal": GOAL,
            "rounds": {
                "weft": list(map(round, with_many)),
                "reference": list(map(round, with_one)),
            },
            "audit_findings": findings,
        },
        conditions,
    )


Batches = list[tuple[Caller, int]]
"""Their users and numbers."""


async def _fill(server: BenchServer, users: int) -> Batches:
    """Submit one batch for each user, the queues in turn."""
    store, admin = server.filler.opened
    queues = [Queue(name=f"queue-{number}", priority=number) for number in range(QUEUES)]
    await store.save_queues(admin, queues)
    callers = [
        Caller(**dict(row)) for row in await server.rows("many_users", users, admin.user_id)
    ]
    shapes = [
        msgspec.structs.replace(SHAPE, words=(("pool", "default"), ("queue", queue.name)))
        for queue in queues
    ]
    left = zip(callers, cycle(shapes))
    batches: Batches = []

    async def submit() -> None:
        for caller, shape in left:
            batch_id = await fill_small(server.filler, caller, USER_JOBS, shape)
            batches.append((caller, batch_id))

    await asyncio.gather(*(submit() for _ in range(SUBMITS_AT_ONCE)))
    return batches


async def _cancel(server: BenchServer, batches: Batches) -> int:
    """Cancel some; return how many."""
    store, _ = server.filler.opened
    chosen = batches[::CANCELLED_EACH]
    for caller, batch_id in chosen:
        await store.cancel_group(caller, batch_id, 0, force=False)
    return len(chosen)
