"""weft: commands as jobs of a batch, functions as those of `weft.Executor`, one job a call."""

import asyncio
import os
from pathlib import Path

import jobs

import weft
from weft.bench.throwaway import url_of
from weft.client.api import Api
from weft.run.home import Home

SHARES = {"sleep": 50, "short": 4}  # so many at once
ENVIRONMENT = {name: os.environ[name] for name in ("PEER_DONE", "PYTHONPATH")}
home = Home(Path(os.environ["WEFT_HOME"]))
loop = asyncio.new_event_loop()


def send(kind, numbers):
    """Send all jobs as one batch."""
    if kind == "noop":
        with weft.Executor(env=ENVIRONMENT) as executor:
            list(executor.map(jobs.run, ["noop"] * len(numbers), numbers, chunksize=1))
        return
    cpu = f"{1000 * os.cpu_count() // SHARES.get(kind, jobs.AT_ONCE)}m"
    all_have = {"env": ENVIRONMENT, "resources": {"cpu": cpu, "memory": "16Mi"}}
    if kind == "fail":
        all_have |= {"max_attempts": jobs.ATTEMPTS, "retry": {"policy": "constant", "wait_s": 1}}
    rows = [{"command": jobs.command(kind, number), **all_have} for number in numbers]
    loop.run_until_complete(client.submit({"jobs": rows}))


async def connect():
    """Return an open client."""
    return await Api(url_of(home), home.token(), home=home.path).__aenter__()


if __name__ == "__main__":
    client = loop.run_until_complete(connect())
    jobs.main(send)
