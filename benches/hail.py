"""How many jobs per second Hail's own client can submit and list here.

The reference is the same client with a stub that answers at once. Both run in a process of the
environment that has the client. Beside it: CPU of api and PostgreSQL for each job, compared with
bunches of the same size in weft's own JSON; and how many jobs a second start and end, in passing.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final

from benches.hail_stub import running_stub
from weft.bench.figures import conditions_of, load_average, median_rate, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.process_tree import use_by_role
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api
from weft.run.home import Home

JOBS: Final = 100_000
LISTED: Final = 10_000
RUN: Final = 2_000
ROUNDS: Final = 3
BUNCH: Final = 1024
CLIENT_S: Final = 600.0
_PAGE: Final = 50
_US: Final = 1e6
_LOCAL: Final = Path(".tools/hail/bin/python")
_PROGRAM: Final = """
import json, sys, time
from hailtop.batch_client.client import BatchClient
what, number = sys.argv[1], int(sys.argv[2])
bc = BatchClient('default')
begun = time.perf_counter()
if what == 'list':
    b = bc.get_batch(number)
    begun = time.perf_counter()
    n = sum(1 for _ in b.jobs())
else:
    b = bc.create_batch()
    for i in range(number):
        b.create_job('i', ['/bin/true', f'hello {i}'],
                     resources={'cpu': '0.25', 'memory': 'lowmem'})
    b.submit(disable_progress_bar=True)
    n = number
took_s = time.perf_counter() - begun
print(json.dumps({'id': b.id, 'n': n, 'took_s': took_s}))
"""


class Client:
    """Runs Hail's client against an address."""

    def __init__(self, home: Home) -> None:
        self._python = find_python()
        self._directory = home.path / "hail"
        self._directory.mkdir()
        self._tokens = self._directory / "tokens.json"
        self._tokens.write_text(json.dumps({"default": home.token()}))

    async def run(self, domain: str, what: str, number: int) -> dict[str, Any]:
        """Submit or list; return what the program says."""
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self._directory),
            "HAIL_TERRA": "1",
            "HAIL_LOCATION": "gce",
            "HAIL_DOMAIN": domain,
            "HAIL_DONT_RETRY_500": "1",
            "HAIL_DEFAULT_NAMESPACE": "default",
            "HAIL_TOKENS_FILE": str(self._tokens),
        }
        words = [str(self._python), "-c", _PROGRAM, what, str(number)]
        done = await asyncio.to_thread(
            subprocess.run,
            words,
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            timeout=CLIENT_S,
            cwd=self._directory,
        )
        if done.returncode:
            raise BenchFailed("Hail's client failed", detail=done.stderr.strip()[-800:])
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def find_python() -> Path:
    """Return a Python that has the client: this one, or that of `tools/environment.sh hail`."""
    for python in (Path(sys.executable), _LOCAL.absolute()):
        words = [str(python), "-c", "import hailtop.batch_client"]
        if (
            python.exists()
            and not subprocess.run(words, check=False, capture_output=True).returncode
        ):
            return python
    raise BenchFailed(
        "Hail's client is not installed",
        detail="Neither this Python nor .tools/hail has the package `hail`.",
        hint="In a checkout of weft, run tools/environment.sh hail there first.",
    )


class Rounds:
    """The rounds of one server, and what they took."""

    def __init__(self, home: Home, up_pid: int, api: Api, client: Client) -> None:
        self._home = home
        self._up_pid = up_pid
        self._api = api
        self._client = client
        self.url = str(json.loads(home.client_file.read_bytes())["url"])
        self.domain = self.url.partition("://")[2]
        self.rates: dict[str, list[float]] = {}
        self.cpu_us: dict[str, list[float]] = {}

    async def submit(self, domain: str, name: str, count: int) -> int:
        """Submit with Hail's client; return the batch."""
        before = self._cpu_s()
        found = await self._client.run(domain, "submit", count)
        self._note(name, count / found["took_s"], (self._cpu_s() - before) / count)
        return int(found["id"])

    async def submit_v1(self, count: int) -> int:
        """Submit the same jobs in JSON of weft, in bunches of the same size."""
        before, begun = self._cpu_s(), time.perf_counter()
        batch_id = int((await self._ask("/v1/batches", {}))["id"])
        update = await self._ask(f"/v1/batches/{batch_id}/updates", {"n_jobs": count})
        path = f"/v1/batches/{batch_id}/updates/{update['update_id']}"
        for first in range(1, count + 1, BUNCH):
            jobs = [_own_job(n) for n in range(first, min(first + BUNCH, count + 1))]
            await self._ask(f"{path}/jobs", {"first": first, "jobs": jobs})
        await self._ask(f"{path}/commit", {})
        rate = count / (time.perf_counter() - begun)
        self._note("v1", rate, (self._cpu_s() - before) / count)
        return batch_id

    async def remove(self, batch_id: int) -> None:
        """Cancel a batch and wait until it has ended."""
        await self._api.cancel_batch(batch_id, force=True)
        await self.until_over(batch_id)

    async def until_over(self, batch_id: int) -> None:
        """Wait until all jobs of a batch have ended."""
        async for _ in self._api.watch_batch(batch_id):
            pass

    async def list_jobs(self, domain: str, name: str, batch_id: int) -> None:
        """List the jobs of a batch with Hail's client."""
        found = await self._client.run(domain, "list", batch_id)
        self.rates.setdefault(name, []).append(found["n"] / found["took_s"])

    async def recorded(self, batch_id: int, count: int) -> tuple[bytes, list[bytes]]:
        """Return what the door answers about a batch and about the pages of its jobs."""
        path = f"/api/v1alpha/batches/{batch_id}"
        lasts = range(0, count + 1, _PAGE)
        pages = [
            await self._get(f"{path}/job-groups/0/jobs?recursive=True&last_job_id={last}")
            for last in lasts
        ]
        return await self._get(path), pages

    def _note(self, name: str, rate: float, cpu_s: float) -> None:
        self.rates.setdefault(name, []).append(rate)
        self.cpu_us.setdefault(name, []).append(cpu_s * _US)

    def _cpu_s(self) -> float:
        used = use_by_role(self._home, self._up_pid)
        return used["api"].cpu_s + used["postgres"].cpu_s

    async def _get(self, path: str) -> bytes:
        return await asyncio.to_thread(self._send, path, None)

    async def _ask(self, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        body = await asyncio.to_thread(self._send, path, json.dumps(document).encode())
        answer: dict[str, Any] = json.loads(body or b"{}")
        return answer

    def _send(self, path: str, body: bytes | None) -> bytes:
        headers = {
            "Authorization": f"Bearer {self._home.token()}",
            "Content-Type": "application/json",
        }
        request = urllib.request.Request(self.url + path, body, headers)  # noqa: S310 (our server)
        with urllib.request.urlopen(request, timeout=CLIENT_S) as answer:  # noqa: S310 (our server)
            data: bytes = answer.read()
        return data


def _own_job(number: int) -> dict[str, Any]:
    return {
        "command": ["/bin/true", f"hello {number}"],
        "resources": {"cpu": "250m", "memory": 241_591_910, "storage": 0},
        "max_attempts": 20,
        "retry_on": ["lost"],
    }


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second of the client here and with the stub, medians over the rounds."""
    load, count, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    listed, run = min(count, LISTED), min(count, RUN)
    progress.begin(2 * rounds + 2)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home) as up_pid, client_of(home) as api:
            found = Rounds(home, up_pid, api, Client(home))
            progress.step("start and run jobs")
            begun = time.perf_counter()
            await found.until_over(await found.submit(found.domain, "warm up", run))
            completed = run / (time.perf_counter() - begun)
            progress.step("fill a batch to list")
            to_list = await found.submit(found.domain, "warm up", listed)
            await found.until_over(to_list)
            for worker in await api.list_workers():  # else jobs run while others are submitted
                await api.cordon_worker(worker["worker"])
            batch, pages = await found.recorded(to_list, listed)
            async with running_stub(batch, pages) as stub:
                for number in range(1, rounds + 1):
                    # Side by side: what removed batches leave to do disturbs both lists alike.
                    progress.step(f"lists, round {number}")
                    await found.list_jobs(stub, "list_stub", to_list)
                    await found.list_jobs(found.domain, "list_weft", to_list)
                    progress.step(f"submissions, round {number}")
                    await found.submit(stub, "stub", count)
                    await found.remove(await found.submit(found.domain, "weft", count))
                    await found.remove(await found.submit_v1(count))
            sizes = {"jobs": count, "rounds": rounds, "listed": listed, "run": run}
            conditions = await conditions_of(
                home.secrets()["admin"], home.path, load_before=load, sizes=sizes
            )
    return {**_result(found), "completed_per_s": round(completed), "conditions": conditions}


def _result(found: Rounds) -> dict[str, Any]:
    rate = {name: median_rate(rates) for name, rates in found.rates.items()}
    cpu = {name: round(median(found.cpu_us[name]), 2) for name in ("weft", "v1")}
    return {
        "unit": "jobs/s",
        "weft": rate["weft"],
        "reference": rate["stub"],
        "ratio": ratio_of(rate["weft"], rate["stub"]),
        "list": {
            "weft": rate["list_weft"],
            "reference": rate["list_stub"],
            "times_stub": ratio_of(rate["list_stub"], rate["list_weft"]),
        },
        "cpu_us": {**cpu, "ratio": ratio_of(cpu["weft"], cpu["v1"])},
        "rounds": {name: list(map(round, rates)) for name, rates in found.rates.items()},
    }
