"""How long commands of the terminal take from their start to their end, beside other programs.

All take turns: the commands, `python -c pass` of the same interpreter, which no program in Python
can be faster than, and `/bin/true`, which is how soon one in C starts.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from statistics import median
from typing import Any, Final, NamedTuple

from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.run.home import Home

ROUNDS: Final = 20
REST_S: Final = 0.15
"""Before each command, so that a job of the one before it is over."""
FILE: Final = "one.json"
PYTHON: Final = (sys.executable, "-P")
WEFT: Final = (*PYTHON, "-m", "weft.cli")
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "true": ("/bin/true",),
    "python": (*PYTHON, "-c", "pass"),
    "import": (*PYTHON, "-c", "import weft"),
    "tab": (*WEFT, "--complete", "bash", "weft submit --na", "--na"),
    "completion": (*WEFT, "completion", "bash"),
    "help": (*WEFT, "--help"),
    "ls": (*WEFT, "ls"),
    "status": (*WEFT, "status", "b1"),
    "submit": (*WEFT, "submit", FILE),
    "run": (*WEFT, "run", "-n", "--", "/bin/true"),
}
EACH: Final = (*WEFT, "each", "--", "/bin/echo")
GOALS: Final[Mapping[str, int]] = {
    "import": 40,
    "tab": 80,
    "help": 100,
    "ls": 120,
    "status": 120,
    "submit": 120,
    "run": 150,
}
EACH_GOAL: Final = 200
Figures = dict[str, dict[str, float]]
"""By `cpu_ms` and `wall_ms`: the least and the median."""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return CPU and wall time of each command, and how soon `weft each` prints."""
    load, rounds = load_average(), plan.rounds_of(max(1, round(ROUNDS * plan.scale)))
    progress.begin(2)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home):
            progress.step("start commands")
            commands = await measure_commands(home, rounds)
            progress.step("first output of `weft each`")
            each = sorted([await asyncio.to_thread(_first_output_ms, home) for _ in range(rounds)])
            conditions = await conditions_of(
                home.secrets()["admin"], home.path, load_before=load, sizes={"rounds": rounds}
            )
    cpu = {name: figures["cpu_ms"]["median"] for name, figures in commands.items()}
    return document_of(
        Headline("ms of CPU", cpu["ls"], cpu["python"], ratio_of(cpu["python"], cpu["ls"])),
        {
            "commands": commands,
            "by_python": {name: ratio_of(ms, cpu["python"]) for name, ms in cpu.items()},
            "each_first_ms": {"min": each[0], "median": round(median(each), 1)},
            "goals": {**GOALS, "each_first": EACH_GOAL},
            "missed": [
                *(
                    f"{name} {kind}"
                    for name, goal in GOALS.items()
                    for kind, found in commands[name].items()
                    if found["median"] > goal
                ),
                *(["each_first"] if median(each) > EACH_GOAL else []),
            ],
        },
        conditions,
    )


async def measure_commands(home: Home, rounds: int) -> dict[str, Figures]:
    """Return the figures of these commands, in turns."""
    (home.path / FILE).write_text(json.dumps({"jobs": [{"command": ["/bin/true"]}]}))
    async with client_of(home) as client:
        await client.create_batch({"jobs": [{"command": ["/bin/true"]}]})
    took: dict[str, list[_Took]] = {name: [] for name in COMMANDS}
    for number in range(1 + rounds):
        for name, words in COMMANDS.items():
            await asyncio.sleep(REST_S)
            found = await asyncio.to_thread(_run, home, words)
            if number:  # the first one may compile modules
                took[name].append(found)
    return {
        name: {
            "cpu_ms": _figures([one.cpu_ms for one in found]),
            "wall_ms": _figures([one.wall_ms for one in found]),
        }
        for name, found in took.items()
    }


class _Took(NamedTuple):
    cpu_ms: float
    """With that of the processes which it waited for."""
    wall_ms: float


def _figures(values: list[float]) -> dict[str, float]:
    return {"min": round(min(values), 1), "median": round(median(values), 1)}


def _environment(home: Home) -> dict[str, str]:
    return {"WEFT_HOME": str(home.path), "PATH": "/usr/bin:/bin"}


def _run(home: Home, words: tuple[str, ...]) -> _Took:
    begun = time.perf_counter()
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        cwd=home.path,
        env=_environment(home),
    )
    _, status, used = os.wait4(process.pid, 0)
    wall_ms = (time.perf_counter() - begun) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise BenchFailed(f"`{' '.join(words)}` failed")
    return _Took((used.ru_utime + used.ru_stime) * 1000, wall_ms)


def _first_output_ms(home: Home) -> float:
    """Return how soon the output of a line is here, of which the pipe stays open meanwhile."""
    time.sleep(REST_S)
    begun = time.perf_counter()
    with subprocess.Popen(
        EACH,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=home.path,
        env=_environment(home),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"hello\n")
        process.stdin.flush()
        first = process.stdout.read(1)
        took_ms = (time.perf_counter() - begun) * 1000
        process.stdin.close()
        process.stdout.read()
    if process.returncode or not first:
        raise BenchFailed("`weft each` failed")
    return round(took_ms, 1)
