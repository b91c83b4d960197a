"""A Slurm on this host (`tests/servers/slurm.sh`) for as long as a bench; it needs root."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from weft.bench.plan import BenchFailed

_SCRIPT: Final = Path("tests/servers/slurm.sh")
_PORT: Final = "16940"
_NODES: Final = 2
_CPUS: Final = 64
"""Of each node; that is more than the host has, as jobs of the benches do nothing."""
LOOK_S: Final = 0.2


class SlurmSite:
    """A cluster that runs."""

    def __init__(self, directory: Path) -> None:
        self.conf = directory / "etc" / "slurm.conf"
        self.cpus = _NODES * _CPUS

    async def run(self, *words: str) -> str:
        """Return what a command of Slurm's prints."""
        process = await asyncio.create_subprocess_exec(
            *words,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "SLURM_CONF": str(self.conf)},
        )
        out, _ = await process.communicate()
        if process.returncode:
            raise BenchFailed(f"{words[0]} failed")
        return out.decode()

    async def until_empty(self) -> None:
        """Wait until Slurm has no job that waits or runs."""
        while await self.run("squeue", "-h"):  # noqa: ASYNC110 (Slurm tells nobody)
            await asyncio.sleep(LOOK_S)


@contextmanager
def slurm_site() -> Iterator[SlurmSite]:
    """Run a cluster, and remove it afterwards."""
    directory = Path(tempfile.mkdtemp(prefix="weft-bench-slurm-"))
    words = {"NODES": str(_NODES), "CPUS": str(_CPUS), "MEMORY_MB": "16000"}
    try:
        begun = subprocess.run(
            [_SCRIPT, "start", directory, _PORT],
            check=False,
            capture_output=True,
            env={**os.environ, **words},
        )
        if begun.returncode:
            raise BenchFailed(f"there is no Slurm: {begun.stderr.decode()[-300:]}")
        yield SlurmSite(directory)
    finally:
        # What runs outlives the end of Slurm.
        site = {**os.environ, "SLURM_CONF": str(directory / "etc" / "slurm.conf")}
        subprocess.run(["scancel", "--user=root"], check=False, capture_output=True, env=site)
        subprocess.run([_SCRIPT, "stop", directory], check=False, capture_output=True)
        shutil.rmtree(directory, ignore_errors=True)
