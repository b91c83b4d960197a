"""PgQueuer on PostgreSQL: coroutines in one process."""

import asyncio
import functools
import json
from datetime import timedelta

import asyncpg
import jobs
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.executors import DatabaseRetryEntrypointExecutor
from pgqueuer.queries import Queries

SIGNS = {"heartbeat_timeout": timedelta(seconds=jobs.DEAD_AFTER_S)} if jobs.DEAD_AFTER_S else {}
RETRIES = functools.partial(
    DatabaseRetryEntrypointExecutor, max_attempts=jobs.ATTEMPTS - 1, backoff_multiplier=1.0
)


async def queries():
    """Return its calls, over a connection."""
    return Queries(AsyncpgDriver(await asyncpg.connect(jobs.SERVER)))


async def work():
    """Run jobs; its own command `pgq run` fails with the newest typer."""
    queue = PgQueuer(AsyncpgDriver(await asyncpg.connect(jobs.SERVER)))

    @queue.entrypoint("run", executor_factory=RETRIES)
    async def run(job):
        await jobs.run_async(*json.loads(job.payload))

    batch = min(10, jobs.AT_ONCE // 2)
    await queue.run(
        max_concurrent_tasks=jobs.AT_ONCE,
        batch_size=batch,
        **SIGNS,
        shutdown_on_listener_failure=True,
    )


async def install():
    """Make its tables."""
    await (await queries()).install()


def send(kind, numbers):
    """Send all jobs with one call."""
    rows = [json.dumps([kind, number]).encode() for number in numbers]
    loop.run_until_complete(sender.enqueue(["run"] * len(rows), rows, [0] * len(rows)))


if __name__ == "__main__":
    loop = asyncio.new_event_loop()
    if jobs.SENDS:
        sender = loop.run_until_complete(queries())
    jobs.main(
        send,
        prepare=lambda: loop.run_until_complete(install()),
        worker=lambda: loop.run_until_complete(work()),
    )
