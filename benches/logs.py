"""Output of 200 jobs, one MB a second in all, that goes to a bucket: how live it is, how many
objects it makes; and how many objects very many short outputs leave.

The jobs run on a linked worker, so each line goes to the api's spool, from there to a follower by
the api and to a bucket on a server of S3 beside it. Each line says when it was written.
"""

import asyncio
import re
import sys
import time
import urllib.request
from contextlib import suppress
from typing import Any, Final

from benches.brokers import running_broker
from benches.looking import until
from benches.outside import linked_worker, open_pools, run_many
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    percentile,
    ratio_of,
)
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home, url_of
from weft.client.api import Api

JOBS: Final = 200
FOR_S: Final = 40.0
SMALL: Final = 20_000
"""Short outputs; the goal is said of a million."""
BYTES_PER_S: Final = 1_000_000
PAUSE_S: Final = 0.1
GOALS: Final = {"live_p99_ms": 1000.0, "objects_per_minute": 12.0, "objects_of_a_million": 1000}
SETTLE_S: Final = 12.0
"""Until the last pack was made."""
_MILLION: Final = 1_000_000
_BUCKET: Final = "logs"
_OPENS: Final = {"AWS_ACCESS_KEY_ID": "AKIABENCH", "AWS_SECRET_ACCESS_KEY": "bench"}
_SCRIPT: Final = """
import os, sys, time
size, pause_s, end = int(sys.argv[1]), float(sys.argv[2]), time.time() + float(sys.argv[3])
while time.time() < end:
    os.write(1, b"%d %s\\n" % (time.time_ns(), b"x" * (size - 21)))
    time.sleep(pause_s)
"""
_KEY: Final = re.compile(r"<Key>([^<]+)</Key>")
_MORE: Final = re.compile(r"<NextContinuationToken>([^<]+)</")


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return how late lines reach a follower, and how many objects there are."""
    load, scale = load_average(), min(plan.scale, 1.0)
    jobs, for_s = max(2, round(JOBS * scale)), max(5.0, FOR_S * scale)
    small = plan.jobs_of(SMALL)
    progress.begin(4)
    progress.step("start")
    with running_broker("s3") as address, throwaway_home(plan.directory) as home:
        bucket = _Bucket(address)
        await bucket.ask("PUT", "")
        settings = {
            "WEFT_LOG_BUCKET": f"s3://{_BUCKET}/bench",
            "WEFT_LOG_BUCKET_ENDPOINT": address,
            "WEFT_STORE_BUCKETS": _BUCKET,
        }
        async with running_weft(home, **settings, **_OPENS), client_of(home) as client:
            await open_pools(home, "linked")
            async with linked_worker(home, url_of(home)):
                await run_many(client, "linked", 10)
                progress.step(f"{jobs} jobs that print")
                loud = await _print(client, bucket, jobs, for_s)
                progress.step(f"{small:,} short outputs")
                n_before = len(await bucket.names())
                seconds = await run_many(client, "linked", small, "/bin/echo", "hello")
                progress.step("the last packs")
                await asyncio.sleep(SETTLE_S)
                n_left = len(await bucket.names()) - n_before
            conditions = await conditions_of(
                home.secrets()["admin"],
                home.path,
                load_before=load,
                sizes={"jobs": jobs, "for_s": for_s, "small": small},
            )
    return document_of(
        Headline(
            "ms",
            loud["live_p99_ms"],
            GOALS["live_p99_ms"],
            ratio_of(GOALS["live_p99_ms"], loud["live_p99_ms"]),
        ),
        {
            "goals": GOALS,
            **loud,
            "small_per_s": round(small / seconds, 1),
            "small_objects": n_left,
            "objects_of_a_million": round(n_left * _MILLION / small),
        },
        conditions,
    )


class _Bucket:
    """A bucket of a server that checks no key."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def ask(self, method: str, path: str) -> str:
        return await asyncio.to_thread(self._ask, method, path)

    async def names(self) -> set[str]:
        """Return the names of all objects."""
        found: set[str] = set()
        more = ""
        while True:
            text = await self.ask("GET", f"?list-type=2{more}")
            found.update(_KEY.findall(text))
            match = _MORE.search(text)
            if match is None:
                return found
            more = f"&continuation-token={match[1]}"

    def _ask(self, method: str, path: str) -> str:
        request = urllib.request.Request(  # noqa: S310 (ours)
            f"{self._address}/{_BUCKET}{path}",
            method=method,
            headers={"authorization": "AWS any:one"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return str(answer.read().decode())


async def _print(client: Api, bucket: _Bucket, jobs: int, for_s: float) -> dict[str, float]:
    """Let jobs print, and follow one of them; return how late its lines came, and how many objects
    were made in a minute.
    """
    size = max(30, round(BYTES_PER_S * PAUSE_S / JOBS))
    words = [sys.executable, "-I", "-S", "-c", _SCRIPT, f"{size}", f"{PAUSE_S}", f"{for_s}"]
    job = {
        "command": words,
        "count": jobs,
        "attributes": {"where": "linked"},
        "resources": {"cpu": "10m", "memory": "10Mi"},
    }
    batch = int((await client.create_batch({"jobs": [job]}))["id"])
    await until(client, batch, lambda one: one["n_running"] + one["n_succeeded"] >= jobs)
    seen, began = await bucket.names(), time.monotonic()
    n_before = len(seen)
    watching = asyncio.create_task(_watch(bucket, seen))
    late = await _follow(client, batch, jobs)
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    minutes = (time.monotonic() - began) / 60
    document = await until(client, batch, lambda one: bool(one["complete"]))
    if document["n_succeeded"] != jobs or not late:
        raise BenchFailed("a job that prints failed")
    return {
        "live_p50_ms": round(percentile(late, 50), 1),
        "live_p99_ms": round(percentile(late, 99), 1),
        "lines": len(late),
        "objects_per_minute": round((len(seen) - n_before) / minutes, 1),
    }


async def _watch(bucket: _Bucket, seen: set[str]) -> None:
    """Note the names of objects as they come; some become one of another name."""
    while True:
        seen |= await bucket.names()
        await asyncio.sleep(1)


async def _follow(client: Api, batch: int, job_id: int) -> list[float]:
    """Return how many milliseconds after it was written each line came, once it is live."""
    late: list[float] = []
    rest = b""
    opened_ns = time.time_ns()
    async for event in client.follow_log(batch, job_id, stream="stdout"):
        *lines, rest = (rest + event.data).split(b"\n")
        now = time.time_ns()
        at = [int(line.partition(b" ")[0]) for line in lines]
        late += [(now - one) / 1e6 for one in at if one > opened_ns]
    return late
