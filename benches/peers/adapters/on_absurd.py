"""Absurd on PostgreSQL: coroutines in one process, a task each."""

import asyncio

import absurdctl
import jobs
import psycopg
from absurd_sdk import Absurd, AsyncAbsurd

RETRIES = {"max_attempts": jobs.ATTEMPTS, "retry_strategy": {"kind": "fixed", "base_seconds": 1}}


async def work():
    """Run tasks until it is ended."""
    app = AsyncAbsurd(jobs.SERVER)

    @app.register_task("run")
    async def run(params, _context):
        await jobs.run_async(*params)

    signs = {"claim_timeout": int(jobs.DEAD_AFTER_S)} if jobs.DEAD_AFTER_S else {}
    await app.start_worker(concurrency=jobs.AT_ONCE, **signs)


def prepare():
    """Make its tables, and a queue."""
    with psycopg.connect(jobs.SERVER, autocommit=True) as connection:
        connection.execute(absurdctl.BUNDLED_SCHEMA_SQL)
    Absurd(jobs.SERVER).create_queue()


def send(kind, numbers):
    """Send one task after another: it has no call for many."""
    retries = RETRIES if kind == "fail" else {}
    for number in numbers:
        app.spawn("run", [kind, number], queue="default", **retries)


if __name__ == "__main__":
    if jobs.SENDS:
        app = Absurd(jobs.SERVER)
    jobs.main(send, prepare=prepare, worker=lambda: asyncio.run(work()))
