"""Brokers and stores of benches, as the tests have them (`tests/servers`), with a weft beside."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from weft.bench.plan import BenchFailed
from weft.bench.processes import PROGRAM
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api
from weft.run.home import Home

PORTS: Final[Mapping[str, int]] = {"rabbitmq": 28760, "kafka": 28780, "s3": 28800}
ADDRESSES: Final = {
    "rabbitmq": "amqp://127.0.0.1:{}",
    "kafka": "kafka://127.0.0.1:{}",
    "s3": "http://127.0.0.1:{}",
}
QUEUE: Final = "travels"
START_S: Final = 300
_SERVERS: Final = Path(__file__).resolve().parents[1] / "tests" / "servers"
_CONNECTION: Final = """
[[transports]]
name = "broker"
kind = "{kind}"
address = "{address}"
tenants = ["default"]
{password}
"""


@contextmanager
def running_broker(kind: str) -> Iterator[str]:
    """Run a broker with its data in a new directory; give its address."""
    directory = Path(tempfile.mkdtemp(prefix=f"weft-bench-{kind}-"))
    script = str(_SERVERS / f"{kind}.sh")
    started = subprocess.run(
        [script, "start", str(directory), str(PORTS[kind])],
        check=False,
        capture_output=True,
        text=True,
        timeout=START_S,
    )
    try:
        if started.returncode != 0:
            raise BenchFailed(f"{kind} could not start", detail=started.stderr[-500:])
        yield ADDRESSES[kind].format(PORTS[kind])
    finally:
        subprocess.run([script, "stop", str(directory)], check=False, timeout=60)
        shutil.rmtree(directory, ignore_errors=True)


@asynccontextmanager
async def weft_beside(
    kind: str, address: str, directory: Path | None
) -> AsyncIterator[tuple[Home, Api]]:
    """Run a weft whose queue `QUEUE` travels over the broker; give its home and a client."""
    with throwaway_home(directory) as home:
        file = home.path / "transports.toml"
        password = 'password_env = "BENCH_PASSWORD"' if kind == "rabbitmq" else ""
        file.write_text(_CONNECTION.format(kind=kind, address=address, password=password))
        os.environ["BENCH_PASSWORD"] = "guest"  # noqa: S105 (of a broker that ends with us)
        settings = {"WEFT_TRANSPORTS_FILE": str(file)}
        async with running_weft(home, **settings), client_of(home) as client:
            queue = {"name": QUEUE, "priority": 1, "transport": "broker"}
            await client.save_queues([queue], dry_run=False)
            yield home, client


async def run_array(client: Api, count: int, queue: str) -> float:
    """Return the seconds until so many jobs of a queue have succeeded."""
    job = {"command": [PROGRAM], "queue": queue, "count": count}
    begun = time.perf_counter()
    created = await client.submit({"jobs": [job]})
    succeeded = 0
    async for batch in client.watch_batch(int(created["id"])):
        succeeded = batch["n_succeeded"]
    if succeeded != count:
        raise BenchFailed("a job failed", detail=f"{succeeded} of {count} succeeded.")
    return time.perf_counter() - begun
