"""awa on PostgreSQL: coroutines in one process, its engine in Rust."""

import asyncio
import sys
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, urlsplit

import awa
import jobs

SIGNS = {
    "heartbeat_staleness_ms": int(jobs.DEAD_AFTER_S * 1000),
    "heartbeat_interval_ms": int(jobs.DEAD_AFTER_S * 250),
    "heartbeat_rescue_interval_ms": int(jobs.DEAD_AFTER_S * 250),
}


def url():
    """Return the URL of the server in the form that its driver reads."""
    parts = urlsplit(jobs.SERVER)
    host = quote(parse_qs(parts.query)["host"][0], safe="")
    login = f"user={parts.username}&password={parts.password}"
    return f"postgresql://localhost{parts.path}?host={host}&{login}"


@dataclass
class Run:
    """What a job is given."""

    kind: str
    number: int


async def work():
    """Run jobs until it is ended."""
    client = awa.AsyncClient(url())

    @client.task(Run)
    async def run(job):
        await jobs.run_async(job.args.kind, job.args.number)

    await client.start([("default", jobs.AT_ONCE)], **(SIGNS if jobs.DEAD_AFTER_S else {}))
    await asyncio.Event().wait()


def send(kind, numbers):
    """Send all jobs with one call."""
    most = {"max_attempts": jobs.ATTEMPTS} if kind == "fail" else {}
    client.enqueue_many_copy([Run(kind, number) for number in numbers], **most)


if __name__ == "__main__":
    if jobs.SENDS:
        client = awa.Client(url())
    jobs.main(
        send,
        prepare=[sys.executable, "-m", "awa", "--database-url", url(), "migrate"],
        worker=lambda: asyncio.run(work()),
    )
