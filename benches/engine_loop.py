"""500 `/bin/true` through a gateway to an engine, beside a loop of the engine's own client.

The loop calls the client for one job after another, as a script does, then waits for their ends.
Besides, the CPU time of the gateway beside that of the client's processes.
"""

import asyncio
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benches.outside import worker
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api

JOBS: Final = 500
_SERVERS: Final = Path("tests/servers")
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class EngineLoop:
    """An engine of the tests, and how its client runs jobs."""

    name: str
    """Of its script, its runner and its executor."""
    port: int
    settings: Callable[[Path], Mapping[str, str]]
    """Of the gateway; the path is the engine's directory."""
    prepare: Callable[[Path], Coroutine[None, None, None]]
    """Does what the loop needs once."""
    begin: Callable[[Path, int], Sequence[str]]
    """The command that begins the job of this number."""
    until_ended: Callable[[Path, int], Coroutine[None, None, None]]
    """Waits until as many jobs of the loop have ended."""
    begins_all: bool = False
    """Whether the command is one loop that begins as many jobs as the number says."""


async def run(*words: str | Path) -> str:
    """Return what a command prints."""
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    if process.returncode:
        raise BenchFailed(f"{words[0]} failed")
    return out.decode()


async def measure_loop(
    plan: BenchPlan, progress: BenchProgress, loop: EngineLoop
) -> dict[str, Any]:
    """Return jobs per second until all have ended, of both, and their CPU times."""
    load, jobs = load_average(), plan.jobs_of(JOBS)
    progress.begin(2)
    with throwaway_home(plan.directory) as home, _engine(loop) as place:
        words = ("--worker-name", "gate", "--runner", loop.name, "--worker-cpu", "1000")
        async with (
            running_weft(home),
            client_of(home) as client,
            worker(home.path, *words, "--worker-memory", "1Ti", **loop.settings(place)) as pid,
        ):
            await _through_weft(client, loop.name, 10)
            progress.step("weft")
            began_s = _cpu_s_of(pid)
            weft_s = await _through_weft(client, loop.name, jobs)
            gateway_cpu_s = _cpu_s_of(pid) - began_s
            progress.step("the client in a loop")
            await loop.prepare(place)
            began_s = _children_cpu_s()
            loop_s = await _by_loop(loop, place, jobs)
            loop_cpu_s = _children_cpu_s() - began_s
            conditions = await conditions_of(
                home.secrets()["admin"], home.path, load_before=load, sizes={"jobs": jobs}
            )
    return document_of(
        Headline(
            "jobs/s",
            round(jobs / weft_s, 1),
            round(jobs / loop_s, 1),
            ratio_of(jobs / weft_s, jobs / loop_s),
        ),
        {"gateway_cpu_s": round(gateway_cpu_s, 1), "loop_cpu_s": round(loop_cpu_s, 1)},
        conditions,
    )


@contextmanager
def _engine(loop: EngineLoop) -> Iterator[Path]:
    """Run the engine, and remove it afterwards."""
    directory = Path(tempfile.mkdtemp(prefix=f"weft-bench-{loop.name}-"))
    script = _SERVERS / f"{loop.name}.sh"
    try:
        begun = subprocess.run(
            [script, "start", directory, str(loop.port)], check=False, capture_output=True
        )
        if begun.returncode:
            raise BenchFailed(f"there is no {loop.name}: {begun.stderr.decode()[-300:]}")
        yield directory
    finally:
        subprocess.run([script, "stop", directory], check=False, capture_output=True)
        shutil.rmtree(directory, ignore_errors=True)


async def _through_weft(client: Api, executor: str, count: int) -> float:
    one = {"command": ["/bin/true"], "executor": executor, "count": count}
    resources = {"cpu": "100m", "memory": "16Mi"}
    begun = time.perf_counter()
    batch = await client.create_batch({"jobs": [{**one, "resources": resources}]})
    async for _ in client.watch_batch(int(batch["id"])):
        pass
    return time.perf_counter() - begun


async def _by_loop(loop: EngineLoop, place: Path, count: int) -> float:
    begun = time.perf_counter()
    for number in [count] if loop.begins_all else range(count):
        await run(*loop.begin(place, number))
    await loop.until_ended(place, count)
    return time.perf_counter() - begun


def _cpu_s_of(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / _TICKS


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
