"""What fault points that are off cost of a `/bin/true`, beside the same weft without them.

Two `weft up`, one of which is compiled without the statements that pass a point, run a batch each
in turns. The time of CPU of a job differs more from turn to turn, and between two that are the
same, than points can cost. So the ratio is counted: a job that is submitted, claimed, started,
reported and told of alone passes each point once, and jobs in bunches share most of them.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from timeit import repeat
from typing import Any, Final

import weft
from benches.without_points.sitecustomize import without_points
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.process_tree import use_by_role
from weft.bench.processes import run_batch
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api
from weft.faults import POINTS, fault_point
from weft.run.home import Home

JOBS: Final = 3000
ROUNDS: Final = 7
WARM_UP: Final = 500
REST_S: Final = 0.5
"""After a batch, so that what follows it counts for it."""
GOAL: Final = 0.99
_CALLS: Final = 1_000_000
_US: Final = 1_000_000


class Side:
    """A weft, and what its batches took."""

    def __init__(self, home: Home, up_pid: int, client: Api) -> None:
        self._home, self._up_pid, self._client = home, up_pid, client
        self.rates: list[float] = []
        self.cpu_us: list[float] = []

    async def run(self, jobs: int) -> None:
        """Run a batch; note its rate, and the CPU that each of its jobs took."""
        before = self._cpu_s()
        _, took_s = await run_batch(self._client, jobs)
        await asyncio.sleep(REST_S)
        self.rates.append(jobs / took_s)
        self.cpu_us.append((self._cpu_s() - before) / jobs * _US)

    async def conditions(self, load: float, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return where and how it ran."""
        admin = self._home.secrets()["admin"]
        return await conditions_of(admin, self._home.path, load_before=load, sizes=sizes)

    def _cpu_s(self) -> float:
        return sum(use.cpu_s for use in use_by_role(self._home, self._up_pid).values())


@asynccontextmanager
async def _side(directory: Path | None, *, without: bool = False) -> AsyncIterator[Side]:
    with throwaway_home(directory) as home:
        variables = {"PYTHONPYCACHEPREFIX": str(home.path / "pycache")}
        if without:
            variables["PYTHONPATH"] = str(Path(__file__).parent / "without_points")
        async with running_weft(home, **variables) as up_pid, client_of(home) as client:
            yield Side(home, up_pid, client)


def _taken_out() -> int:
    """Return how many statements one side lacks: each point must be among those of its module."""
    texts = [path.read_text() for path in Path(weft.__file__).parent.rglob("*.py")]
    made = [text for text in texts if " = fault_point(" in text]
    taken = [without_points(text)[1] for text in made]
    if not all(taken) or sum(text.count(" = fault_point(") for text in made) != len(POINTS):
        raise BenchFailed("a point was not taken out")
    return sum(taken)


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the CPU of a job on both sides, and what points cost of it at most."""
    load, jobs, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    n_taken_out = _taken_out()
    progress.begin(2 * rounds + 1)
    progress.step("start and warm up")
    async with _side(plan.directory) as with_points, _side(plan.directory, without=True) as bare:
        sides = {"with": with_points, "without": bare}
        for side in sides.values():
            await side.run(min(jobs, WARM_UP))
            side.rates.clear()
            side.cpu_us.clear()
        for number in range(1, rounds + 1):
            for name in sides if number % 2 else reversed(sides):
                progress.step(f"{name}, round {number}")
                await sides[name].run(jobs)
        conditions = await with_points.conditions(load, {"jobs": jobs, "rounds": rounds})
    job_us = median(with_points.cpu_us)
    call_us = min(repeat(fault_point(POINTS[0]), number=_CALLS, repeat=5)) / _CALLS * _US
    points_us = len(POINTS) * call_us
    turns = [b / a for a, b in zip(with_points.cpu_us, bare.cpu_us, strict=True)]
    return document_of(
        Headline(
            "us/job",
            round(job_us, 1),
            round(job_us - points_us, 1),
            round(1 - points_us / job_us, 4),
        ),
        {
            "goal": GOAL,
            "call_ns": round(call_us * 1000, 1),
            "calls_at_most": len(POINTS),
            "without_us": round(median(bare.cpu_us), 1),
            "without_ratio": ratio_of(median(turns), 1.0),
            "without_by_round": [round(turn, 3) for turn in turns],
            "jobs_s": {name: [*map(round, side.rates)] for name, side in sides.items()},
            "statements": n_taken_out,
        },
        conditions,
    )
