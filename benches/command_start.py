"""How long commands of the terminal take, from their start to their end."""

import asyncio
import sys
import time
from collections.abc import Mapping
from statistics import median

from weft.bench.plan import BenchFailed
from weft.run.home import Home

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "help_ms": ("--help",),
    "ls_ms": ("ls",),
    "completion_ms": ("completion", "bash"),
}
ROUNDS = 20


async def measure_commands(home: Home, rounds: int) -> dict[str, float]:
    """Return the medians of these commands, in turns."""
    took: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(1 + rounds):
        for name, words in COMMANDS.items():
            begun = time.perf_counter()
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "weft.cli", *words,
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
                env={"WEFT_HOME": str(home.path), "PATH": "/usr/bin:/bin"},
            )  # fmt: skip
            if await process.wait():
                raise BenchFailed(f"`weft {' '.join(words)}` failed")
            if number:  # the first one may compile modules
                took[name].append((time.perf_counter() - begun) * 1000)
    return {name: round(median(found), 1) for name, found in took.items()}
