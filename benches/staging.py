"""Jobs with an input that all have and one of their own, beside parallel `curl`.

Both come from one web server on this host. Each job of weft is `/bin/true` in a directory that
has its two files; curl fetches both into a new directory, as many at a time, and removes it. The
server counts how often it has sent what all need.
"""

import asyncio
import json
import shutil
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

from benches.file_server import COMMON_BYTES
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.process_tree import use_by_role
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api

JOBS: Final = 500
ROUNDS: Final = 2
AT_ONCE: Final = 4
"""Files that a worker fetches at a time, and processes of curl."""
WARM_UP: Final = 20
GOALS: Final = {"ratio": 0.8, "common_sent": 1}
_PRIVATE: Final = "127.0.0.0/8"
_CURL: Final = """
d=$(mktemp -d "$1/XXXXXX")
curl -sS --fail -o "$d/common" "$2/common" -o "$d/own" "$2/own/$3" && rm -r "$d"
"""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second whose files were brought, of weft and of curl."""
    load, jobs, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    if shutil.which("curl") is None:
        raise BenchFailed("there is no curl to compare with")
    rates: dict[str, list[float]] = {"weft": [], "curl": []}
    progress.begin(2 * rounds + 1)
    progress.step("start")
    with throwaway_home(plan.directory) as home:
        settings = {"WEFT_INPUT_PRIVATE_HOSTS": _PRIVATE, "WEFT_STAGING_FILES_MAX": f"{AT_ONCE}"}
        async with (
            _serving() as url,
            running_weft(home, **settings) as up_pid,
            client_of(home) as client,
        ):
            await _by_weft(client, url, WARM_UP)
            before, sent = use_by_role(home, up_pid)["worker"].rss_mb, await _counts(url)
            n_fetched = 0
            for _ in range(rounds):
                progress.step("weft")
                rates["weft"].append(jobs / await _by_weft(client, url, jobs))
                n_fetched += (await _counts(url)).get("common", 0) - sent.get("common", 0)
                progress.step("curl")
                rates["curl"].append(jobs / await _by_curl(home.path / "curl", url, jobs))
                sent = await _counts(url)
            after = use_by_role(home, up_pid)["worker"].rss_mb
            conditions = await conditions_of(
                home.secrets()["admin"],
                home.path,
                load_before=load,
                sizes={"jobs": jobs, "rounds": rounds, "common_bytes": COMMON_BYTES},
            )
    weft, curl = (round(median(rates[of]), 1) for of in ("weft", "curl"))
    return document_of(
        Headline("jobs/s", weft, curl, ratio_of(weft, curl)),
        {
            "goals": GOALS,
            "common_sent": n_fetched,
            "worker_mb": {"before": round(before, 1), "after": round(after, 1)},
            "rounds": {of: [round(one, 1) for one in found] for of, found in rates.items()},
        },
        conditions,
    )


async def _by_weft(client: Api, url: str, count: int) -> float:
    """Return the seconds until jobs with two files each have ended."""
    jobs = [
        {
            "command": ["/bin/true"],
            "resources": {"cpu": "100m", "memory": "16Mi"},
            "inputs": [
                {"from": f"{url}/common", "to": "common"},
                {"from": f"{url}/own/{number}", "to": "own"},
            ],
        }
        for number in range(count)
    ]
    begun, succeeded = time.perf_counter(), 0
    batch = await client.submit({"jobs": jobs})
    async for document in client.watch_batch(int(batch["id"])):
        succeeded = document["n_succeeded"]
    if succeeded != count:
        raise BenchFailed("a job failed", detail=f"{succeeded} of {count} succeeded.")
    return time.perf_counter() - begun


async def _by_curl(directory: Path, url: str, count: int) -> float:
    await asyncio.to_thread(directory.mkdir, exist_ok=True)
    begun = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        f'seq {count} | xargs -P{AT_ONCE} -n1 sh -c "$0" sh "$1" "$2"',
        _CURL,
        str(directory),
        url,
    )
    if await process.wait():
        raise BenchFailed("curl failed")
    return time.perf_counter() - begun


@asynccontextmanager
async def _serving() -> AsyncIterator[str]:
    """Give the address of a server in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "benches.file_server",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        process.stdin.close()
        await process.wait()


async def _counts(url: str) -> Mapping[str, int]:
    def ask() -> Mapping[str, int]:
        with urllib.request.urlopen(f"{url}/counts", timeout=30) as answer:  # noqa: S310 (ours)
            found: Mapping[str, int] = json.loads(answer.read())
            return found

    return await asyncio.to_thread(ask)
