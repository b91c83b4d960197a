"""How many events per second go to a topic of Kafka after an outage, beside the goal.

The loop of the driver, in this process: from the stored position on, until nothing is left.
"""

import time
from typing import Any, Final

import asyncpg

from benches.brokers import running_broker
from benches.queries import query
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import running_database, throwaway_home
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.events_out import EventsOut, tell_events
from weft.driver.loops.loop import LoopContext
from weft.ports.transport import Connection
from weft.settings import Settings
from weft.store import open_driver_store
from weft_brokers.kafka.topics import KafkaTopics

EVENTS: Final = 1_000_000
GOAL_PER_S: Final = 30_000.0
TENANT: Final = "default"


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the events per second."""
    load, count = load_average(), plan.jobs_of(EVENTS)
    progress.begin(2)
    progress.step("start and fill")
    with running_broker("kafka") as address, throwaway_home(plan.directory) as home:
        async with (
            running_database(home) as (logins, token),
            Filler(logins["weft_api"], token) as filler,
            open_driver_store(logins["weft_driver"]) as store,
        ):
            epoch = await store.try_lead()
            if epoch is None:
                raise BenchFailed("somebody leads already")
            context = LoopContext(
                store, epoch, Settings(), Bell(), DueDate(), lambda: None, lambda _: None
            )
            _, caller = filler.opened
            topics = KafkaTopics(
                Connection(name="bench", kind="kafka", address=address, tenants=())
            )
            out = EventsOut(topics, store, "bench", TENANT, caller.user_name)
            await tell_events(context, out)
            batch = await filler.fill(1)
            await _add_events(logins["admin"], batch, count)
            progress.step(f"{count:,} events")
            begun = time.perf_counter()
            while await tell_events(context, out):
                pass
            spent_s = time.perf_counter() - begun
            await topics.close()
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes={"events": count}
            )
    per_s = count / spent_s
    return document_of(
        Headline("events/s", per_s, GOAL_PER_S, ratio_of(per_s, GOAL_PER_S)),
        {"spent_s": round(spent_s, 2)},
        conditions,
    )


async def _add_events(admin_dsn: str, batch: int, count: int) -> None:
    connection = await asyncpg.connect(admin_dsn)
    try:
        await connection.execute(query("many_events"), batch, count)
    finally:
        await connection.close()
