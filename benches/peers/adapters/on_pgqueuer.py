"""PgQueuer on PostgreSQL: coroutines in one process."""

import asyncio
import json
import sys

import asyncpg
import jobs
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries


async def queries():
    """Return its calls, over a connection."""
    return Queries(AsyncpgDriver(await asyncpg.connect(jobs.SERVER)))


async def work():
    """Run jobs; its own command `pgq run` fails with the newest typer."""
    queue = PgQueuer(AsyncpgDriver(await asyncpg.connect(jobs.SERVER)))

    @queue.entrypoint("run")
    async def run(job):
        await jobs.run_async(*json.loads(job.payload))

    await queue.run(max_concurrent_tasks=jobs.AT_ONCE, batch_size=min(10, jobs.AT_ONCE // 2))


async def install():
    """Make its tables."""
    await (await queries()).install()


def send(kind, numbers):
    """Send all jobs with one call."""
    rows = [json.dumps([kind, number]).encode() for number in numbers]
    loop.run_until_complete(sender.enqueue(["run"] * len(rows), rows, [0] * len(rows)))


if __name__ == "__main__":
    loop = asyncio.new_event_loop()
    if sys.argv[1] == "submit":
        sender = loop.run_until_complete(queries())
    jobs.main(
        send,
        prepare=lambda: loop.run_until_complete(install()),
        worker=lambda: loop.run_until_complete(work()),
    )
