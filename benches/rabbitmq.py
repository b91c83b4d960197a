"""How many small processes per second over RabbitMQ, beside PostgreSQL alone and beside Celery.

One durable message for each job; Celery acknowledges late, with as many processes as there are
cores, on the same broker. It is measured if the program `celery` is installed.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benches.brokers import PORTS, QUEUE, run_array, running_broker, weft_beside
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    ratio_of,
)
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.processes import PROGRAM

JOBS: Final = 20_000
ROUNDS: Final = 3
WARM_UP: Final = 200
LONGEST_S: Final = 600.0
LOOK_S: Final = 0.01
KIND: Final = "rabbitmq"
_TASKS: Final = f"""
import os, subprocess
from celery import Celery

app = Celery("tasks", broker=os.environ["BENCH_BROKER"])
app.conf.update(task_acks_late=True, task_ignore_result=True)

@app.task
def run():
    subprocess.run(["{PROGRAM}"], check=True)
    with open("done", "ab", buffering=0) as done:
        done.write(b".")

if __name__ == "__main__":
    for _ in range(int(os.environ["BENCH_COUNT"])):
        run.delay()
"""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second over the broker, by PostgreSQL and by Celery."""
    return await measure_kind(KIND, plan, progress)


async def measure_kind(kind: str, plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return them for a kind of broker; Celery knows one of them."""
    load, rounds, each = load_average(), plan.rounds_of(ROUNDS), plan.jobs_of(JOBS)
    rates: dict[str, list[float]] = {"broker": [], "postgres": [], "celery": []}
    has_celery = kind == KIND and shutil.which("celery") is not None
    progress.begin((3 if has_celery else 2) * rounds + 1)
    progress.step("start and warm up")
    with running_broker(kind) as address:
        async with weft_beside(kind, address, plan.directory) as (home, client):
            for queue in (QUEUE, "default"):
                await run_array(client, min(each, WARM_UP), queue)
            for number in range(1, rounds + 1):
                progress.step(f"{kind}, round {number}")
                rates["broker"].append(each / await run_array(client, each, QUEUE))
                progress.step(f"postgres, round {number}")
                rates["postgres"].append(each / await run_array(client, each, "default"))
                if has_celery:
                    progress.step(f"celery, round {number}")
                    rates["celery"].append(each / await _run_celery(each))
            sizes = {"jobs": each, "rounds": rounds}
            conditions = await conditions_of(
                home.secrets()["admin"], home.path, load_before=load, sizes=sizes
            )
    medians = {name: median_rate(some) for name, some in rates.items() if some}
    return document_of(
        Headline(
            "jobs/s",
            medians["broker"],
            medians["postgres"],
            ratio_of(medians["broker"], medians["postgres"]),
        ),
        {
            "celery_per_s": medians.get("celery"),
            "beside_celery": (
                ratio_of(medians["broker"], medians["celery"]) if has_celery else None
            ),
            "rounds": {name: list(map(round, some)) for name, some in rates.items() if some},
        },
        conditions,
    )


async def _run_celery(count: int) -> float:
    """Return the seconds until Celery has run so many processes."""
    directory = Path(tempfile.mkdtemp(prefix="weft-bench-celery-"))
    (directory / "tasks.py").write_text(_TASKS)
    done = directory / "done"
    done.touch()
    environment = {
        **os.environ,
        "BENCH_BROKER": f"amqp://guest:guest@127.0.0.1:{PORTS[KIND]}//",
    }
    program = shutil.which("celery") or "celery"
    with (directory / "log").open("wb") as log:
        worker = await asyncio.create_subprocess_exec(
            program,
            "-A",
            "tasks",
            "worker",
            "-c",
            str(os.cpu_count()),
            "--without-gossip",
            "--without-mingle",
            cwd=directory,
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        begun, python = 0.0, str(Path(program).with_name("python"))
        for n_tasks in (1, count):  # the first one says that the worker is ready
            begun, wanted = time.perf_counter(), done.stat().st_size + n_tasks
            sender = await asyncio.create_subprocess_exec(
                python,
                "tasks.py",
                cwd=directory,
                env={**environment, "BENCH_COUNT": str(n_tasks)},
            )
            if await sender.wait() != 0:
                raise BenchFailed("celery could not send its tasks")
            await _until(lambda size=wanted: done.stat().st_size >= size)  # type: ignore[misc]
        return time.perf_counter() - begun
    finally:
        worker.terminate()
        await worker.wait()
        shutil.rmtree(directory, ignore_errors=True)


async def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONGEST_S
    while not is_so():
        if time.monotonic() > deadline:
            raise BenchFailed("celery takes too long")
        await asyncio.sleep(LOOK_S)
