"""1,000 tasks of 0.1 s by joblib, PSI/J and Parsl on weft, each beside its own local executor,
200,000 calls by joblib in batches, beside loky, and 500 rules of Snakemake that do next to
nothing: beside its executor for any cluster, beside the calls of Snakemake that its jobs are, and
in groups beside its local executor.

Each program is that of a user, with the tool as `make test-worlds` installs it. It runs some tasks
first, and then says how long all took: what either executor needs to start is not in it.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from benches.engine_loop import run
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import running_weft, throwaway_home

TASKS: Final = 1_000
CALLS: Final = 200_000
RULES: Final = 500
ROUNDS: Final = 3
SIDES: Final = ("weft", "local")
AT_ONCE: Final = os.cpu_count() or 1
"""Tasks that run at once, on both sides."""
_ROOT: Final = Path(__file__).parents[1]
_HEAD: Final = """
import os, sys, time
side, count, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
"""
_JOBLIB: Final = """
import joblib
from weft_joblib import register
register()
def run(count, batch, call, *arguments):
    joblib.Parallel(batch_size=batch)(joblib.delayed(call)(*arguments) for _ in range(count))
with joblib.parallel_config({"weft": "weft", "local": "loky"}[side], n_jobs=at_once):
    run(20 * at_once, 1, time.sleep, 0.1)
    begun = time.perf_counter()
    run(count, %s)
    print(time.perf_counter() - begun)
"""
_PSIJ: Final = """
import psij
small = {"weft.resources": {"cpu": "10m", "memory": "16Mi"}} if side == "weft" else {}
executor = psij.JobExecutor.get_instance(side)
def run(count):
    jobs = [psij.Job(psij.JobSpec("/bin/sleep", ["0.1"], attributes=psij.JobAttributes(
        custom_attributes=small))) for _ in range(count)]
    for job in jobs:
        executor.submit(job)
    for job in jobs:
        assert job.wait().state.name == "COMPLETED", job.status
run(20 * at_once)
begun = time.perf_counter()
run(count)
print(time.perf_counter() - begun)
sys.stdout.flush()
os._exit(0)
"""
_PARSL: Final = """
import parsl
from parsl.executors import HighThroughputExecutor
from parsl.providers import LocalProvider
from weft_parsl import WeftExecutor
@parsl.python_app
def sleep():
    import time
    time.sleep(0.1)
def run(count):
    for future in [sleep() for _ in range(count)]:
        future.result()
executor = WeftExecutor(max_workers=at_once) if side == "weft" else HighThroughputExecutor(
    address="127.0.0.1", max_workers_per_node=at_once, provider=LocalProvider())
with parsl.load(parsl.Config(executors=[executor], strategy="none")):
    run(20 * at_once)
    begun = time.perf_counter()
    run(count)
    print(time.perf_counter() - begun, flush=True)
"""
_SNAKEMAKE: Final = """
import subprocess, tempfile
RULES = '''
rule all:
    input: expand("out/{{n}}", n=range({count}))
rule one:
    output: "out/{{n}}"
    shell: "echo {{wildcards.n}} >{{output}}"
'''
def run(count):
    folder = tempfile.mkdtemp(dir=".")
    with open(f"{folder}/Snakefile", "w") as file:
        file.write(RULES.format(count=count))
    line = {"weft": "snakemake --executor weft --jobs 1000 %s", "local": %r}[side]
    line = line.replace("COUNT", str(count)).replace("AT_ONCE", str(at_once))
    subprocess.run(line, shell=True, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    assert len(os.listdir(f"{folder}/out")) == count
run(at_once)
begun = time.perf_counter()
run(count)
print(time.perf_counter() - begun)
"""
_CLUSTER: Final = """
snakemake --executor cluster-generic --jobs AT_ONCE --seconds-between-status-checks 1
--cluster-generic-submit-cmd 'sh -c "\\$0 >log 2>&1 & echo \\$!"'
"""
"""Its jobs run at once, as on a cluster of this host, and files tell their ends."""
_CHILDREN: Final = """
seq 0 COUNT | head -n COUNT | xargs -P AT_ONCE -I N python -m snakemake --snakefile Snakefile
--target-jobs one:n=N --allowed-rules one --cores 1 --attempt 1 --force-use-threads --force
--nolock --ignore-incomplete --mode remote
"""
_GROUPED: Final = "--cores AT_ONCE --groups one=some --group-components some=50"


def _snakemake(local: str, options: str = "") -> str:
    return _SNAKEMAKE % (options, " ".join(local.split()))


@dataclass(frozen=True)
class World:
    """A tool, and a program that runs as many tasks by it as it is told."""

    tool: str
    program: str
    count: int = TASKS
    goal: float = 0.9


WORLDS: Final[Mapping[str, World]] = {
    "joblib": World("joblib", _JOBLIB % '"auto", time.sleep, 0.1'),
    "psij": World("psij", _PSIJ),
    "parsl": World("parsl", _PARSL),
    "calls": World("joblib", _JOBLIB % "1000, abs, -1", CALLS, 1.0),
    "rules": World("snakemake", _snakemake(_CLUSTER), RULES, 3.0),
    "children": World("snakemake", _snakemake(_CHILDREN), RULES, 1.0),
    "grouped": World("snakemake", _snakemake("snakemake --cores AT_ONCE", _GROUPED), RULES, 0.8),
}


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return tasks per second of each tool on weft, and by its own executor."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    wanted = {name: world for name, world in WORLDS.items() if plan.wants(name)}
    progress.begin(1 + len(wanted) * rounds * len(SIDES))
    progress.step("install the tools")
    for world in wanted.values():
        await run("tools/environment.sh", world.tool)
    rates: dict[str, dict[str, list[float]]] = {}
    with throwaway_home(plan.directory) as home:
        async with running_weft(home):
            for number in range(1, rounds + 1):
                for name, world in wanted.items():
                    sides = rates.setdefault(name, {side: [] for side in SIDES})
                    for side, measured in sides.items():
                        progress.step(f"{name} by {side}, round {number}")
                        measured.append(await _rate(world, side, home.path, plan))
            conditions = await conditions_of(
                home.secrets()["admin"],
                home.path,
                load_before=load,
                sizes={name: plan.jobs_of(world.count) for name, world in wanted.items()}
                | {"rounds": rounds, "at_once": AT_ONCE},
            )
    figures = {name: _figures(WORLDS[name], sides) for name, sides in rates.items()}
    least = min(figures.values(), key=lambda one: float(one["ratio"]) / float(one["goal"]))
    return document_of(
        Headline("tasks/s", least["weft"], least["local"], least["ratio"]), figures, conditions
    )


def _figures(world: World, sides: Mapping[str, list[float]]) -> dict[str, float]:
    weft, local = (median(sides[side]) for side in SIDES)
    return {
        "weft": round(weft, 1),
        "local": round(local, 1),
        "ratio": ratio_of(weft, local),
        "goal": world.goal,
    }


async def _rate(world: World, side: str, home: Path, plan: BenchPlan) -> float:
    """Run the program of a tool; return how many tasks a second it had."""
    count = plan.jobs_of(world.count)
    programs = _ROOT / ".tools" / world.tool / "bin"
    own = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_")}
    own |= {"WEFT_HOME": str(home), "PATH": f"{programs}:{own['PATH']}"}
    process = await asyncio.create_subprocess_exec(
        programs / "python",
        "-c",
        _HEAD + world.program,
        side,
        str(count),
        str(AT_ONCE),
        cwd=home,
        env=own,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    if process.returncode:
        raise BenchFailed(f"{world.tool} failed", detail=errors.decode()[-1000:])
    return count / float(out.split()[-1])
