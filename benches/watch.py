"""What a gateway costs that watches 10,000 attempts: commands a second, memory, delay.

Slurm is a stub that counts commands; handles, files and engine are real. All attempts run, and
each second a thousand of them write a line; then one ends, as its node would let it, and the time
is taken until the gateway tells its end.
"""

import asyncio
import itertools
import os
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from weft.bench.figures import Headline, document_of, load_average, ratio_of
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import throwaway_home
from weft.core.states import AttemptKey
from weft.plugins.log_stores.files.plugin import FileLogWriter
from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.handles import Handles
from weft.plugins.runners.remote.ssh import Answer
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.wire.spec import JobSpec
from weft_slurm.runner.commands import SlurmCommands
from weft_slurm.runner.engine import SlurmEngine
from weft_slurm.runner.folder import SharedFiles
from weft_slurm.settings import SlurmSettings

ATTEMPTS: Final = 10_000
WATCHED_S: Final = 20.0
TALKING: Final = 1000
"""How many attempts write each second: as many as a gateway reads of."""
LINE: Final = b"x" * 99 + b"\n"
CALLS_GOAL: Final = 2.0
MEMORY_GOAL: Final = 200 << 20


class _Stub:
    """Slurm's commands: arrays are taken, and all of their tasks run until they left a mark."""

    def __init__(self) -> None:
        self.calls = 0
        self.arrays: list[tuple[str, int, str]] = []
        """Name, size and script."""

    async def run(self, words: Sequence[str], said: str = "") -> Answer:
        """Answer sbatch and squeue."""
        del said
        self.calls += 1
        if "sbatch" in words:
            named = dict(one.split("=", 1) for one in words if "=" in one)
            size = int(named["--array"].rpartition("-")[2]) + 1
            self.arrays.append((named["--job-name"], size, words[-1]))
            return Answer(0, f"{len(self.arrays)}\n", "")
        lines = [
            f"{name}|{number}|{index}|RUNNING|n1|None\n"
            for number, (name, size, _) in enumerate(self.arrays, 1)
            for index in range(size)
        ]
        return Answer(0, "".join(lines), "")

    def close(self) -> None:
        """Do nothing."""

    async def talk(self) -> None:
        """Let attempts write, in turn, for ever."""
        outs = [
            path.parents[1] / name / "out"
            for _, _, script in self.arrays
            for path in [Path(script)]
            for name in path.with_suffix("").read_text().splitlines()
        ]
        for turn in itertools.count():
            first = turn * TALKING % len(outs)
            await asyncio.to_thread(_append, outs[first : first + TALKING])
            await asyncio.sleep(1)

    def begin(self, number: int, index: int, *, is_over: bool = False) -> None:
        """Be the node of a task: leave the marks of its beginning, and let it run if wanted."""
        _, _, script = self.arrays[number - 1]
        if is_over:
            own = {"SLURM_ARRAY_JOB_ID": str(number), "SLURM_ARRAY_TASK_ID": str(index)}
            subprocess.run(["sh", script], env={**os.environ, **own}, check=True)
            return
        name = Path(script).with_suffix("").read_text().splitlines()[index]
        run = Path(script).parents[1] / name / "run"
        run.mkdir()
        (run / "started").write_text(f"{number} {index} n1\n")


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return commands a second while all run, and how long an end is not seen."""
    load, attempts = load_average(), plan.jobs_of(ATTEMPTS)
    progress.begin(3)
    with throwaway_home(plan.directory) as home:
        found = await _watch(home.path, attempts, progress)
    calls = found["calls_per_s"]
    return document_of(
        Headline("commands/s", calls, CALLS_GOAL, ratio_of(calls, CALLS_GOAL)),
        {**found, "memory_of_goal": ratio_of(found["memory_bytes"], MEMORY_GOAL)},
        {"load_before": load, "attempts": attempts},
    )


async def _watch(path: Path, attempts: int, progress: BenchProgress) -> Mapping[str, Any]:
    stub, settings = _Stub(), SlurmSettings()
    engine = SlurmEngine(
        SlurmCommands(stub, settings),
        SharedFiles(path / "shared"),
        settings,
        ExecutorLimits(grace_ms=1000, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10),
        tag="bench",
    )
    runner = RemoteRunner(engine, Handles(path / "state"), FileLogWriter(path / "logs"), "bench")
    await runner.adopt()
    spec = JobSpec(command=("true",), executor="slurm")
    some = [
        Assignment(AttemptKey(1, number, 1), spec, 100, 16, (1, number))
        for number in range(1, attempts + 1)
    ]
    progress.step("given")
    begun = time.perf_counter()
    await runner.submit(some)
    given_s = time.perf_counter() - begun
    last = (len(stub.arrays), stub.arrays[-1][1] - 1)
    for number, (_, size, _) in enumerate(stub.arrays, 1):
        for index in range(size):
            if (number, index) != last:
                stub.begin(number, index)
    progress.step("watched")
    ended = asyncio.Event()
    following = asyncio.gather(_follow(runner, ended), stub.talk())
    await asyncio.sleep(WATCHED_S)  # a rate needs time; no fact ends it
    calls, cpu = stub.calls, time.process_time()
    await asyncio.sleep(WATCHED_S)
    calls_per_s = (stub.calls - calls) / WATCHED_S
    cores = (time.process_time() - cpu) / WATCHED_S
    progress.step("one ends")
    await asyncio.to_thread(stub.begin, *last, is_over=True)
    over = time.perf_counter()
    await ended.wait()
    seen_s = time.perf_counter() - over
    following.cancel()
    with suppress(asyncio.CancelledError):
        await following
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return {
        "calls_per_s": round(calls_per_s, 2),
        "end_seen_s": round(seen_s, 2),
        "look_s": settings.slurm_look_s,
        "memory_bytes": peak,
        "cores": round(cores, 2),
        "given_s": round(given_s, 1),
        "submissions": len(stub.arrays),
        "stored_bytes": sum(file.stat().st_size for file in (path / "logs").rglob("*.*")),
    }


def _append(files: Sequence[Path]) -> None:
    for path in files:
        with path.open("ab") as file:
            file.write(LINE)


async def _follow(runner: RemoteRunner, ended: asyncio.Event) -> None:
    async for happened in runner.happened():
        if happened.ended:
            ended.set()
