"""A Slurm of the tests: two nodes, accounting, on this host (`tests/servers/slurm.sh`)."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import pytest

from runners.real_engine import RealEngineSuite, attempt
from servers.on_this_host import running, start
from weft.wire.spec import JobSpec
from weft_testing.followed_output_suite import FollowedOutputSuite

START_S = 300
SPEAKS = """echo 40 epoch 4 >$WEFT_PROGRESS; until [ -e {gate} ]; do sleep 0.1; done
echo '90 <b>' >$WEFT_PROGRESS"""
PORT = 16900


def given_in(root: Path) -> list[str]:
    """Return the attempts in a directory of a gateway that it gave Slurm and has not forgotten."""
    lists = [path for path in (root / "arrays").glob("[!.]*") if not path.suffix]
    names = [name for path in lists for name in path.read_text().split()]
    return sorted(name for name in names if (root / name).is_dir())


class SpeakingSuite(RealEngineSuite, FollowedOutputSuite):
    """What Slurm's jobs say of themselves while they run."""

    async def test_how_far_it_is_comes_from_its_node(self, tmp_path: Path) -> None:
        """While it runs, and with its end."""
        gate = tmp_path / "gate"
        one = attempt(7, JobSpec(script=SPEAKS.format(gate=gate), executor="slurm"))
        said = self.root / "progress" / one.key.name
        async with self.ended() as agent:
            await agent.runner.submit([one])
            async with asyncio.timeout(60):
                while not (said.exists() and said.read_bytes() == b"40 epoch 4\n"):
                    await self.engines[-1].changed()  # type: ignore[attr-defined]  # an engine
            gate.touch()
            assert (await agent.end_of(one)).exit_code == 0
        assert said.read_bytes() == b"90 <b>\n"


class SlurmCluster:
    """A cluster that runs."""

    def __init__(self, directory: Path, env: Mapping[str, str]) -> None:
        self.directory = directory
        self._env = env
        self.conf = directory / "etc" / "slurm.conf"

    def run(self, *words: str) -> str:
        """Run one of Slurm's commands."""
        return subprocess.run(
            words,
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "SLURM_CONF": str(self.conf)},
        ).stdout

    def purge(self) -> None:
        """Cancel all jobs."""
        self.run("scancel", "-Q", "--user=root")

    @asynccontextmanager
    async def controller_down(
        self, *, saves: bool = False, forgets: bool = False
    ) -> AsyncIterator[None]:
        """Kill the controller, and start it again with its state, or without all its jobs. It
        saves its state every five seconds: what is younger is lost, unless this waits (`saves`).
        """
        if saves:
            await asyncio.to_thread(self._until_saved)
        pid = int((self.directory / "run" / "slurmctld.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        if forgets:
            for path in self._state.glob("job_state*"):
                path.unlink()
        try:
            yield
        finally:
            again = partial(start, "Slurm", self.directory, PORT, within_s=START_S, **self._env)
            await asyncio.to_thread(again)

    @property
    def _state(self) -> Path:
        return self.directory / "data" / "ctld"

    def _until_saved(self) -> None:
        """Wait until what the controller says of its jobs is on its disk."""
        jobs = self.run("squeue", "-h", "-r", "-t", "PD,R", "-o", "%i").split()
        if not jobs:
            return
        deadline, since, path = time.monotonic() + 60, time.time(), self._state / "job_state"
        self.run("scontrol", "update", f"JobId={jobs[0]}", "Comment=to be saved")
        while not path.exists() or path.stat().st_mtime < since:
            assert time.monotonic() < deadline, "the controller does not save its state"
            signal.sigtimedwait([], 0.1)


@contextmanager
def slurm_cluster(**env: str) -> Iterator[SlurmCluster]:
    """Run a cluster; skip the test where there cannot be one. `env`: `CPUS`, `MORE`."""
    if os.geteuid() != 0:
        pytest.skip("slurmd starts jobs as other users, so it needs root")
    with running("Slurm", PORT, within_s=START_S, **env) as directory:
        cluster = SlurmCluster(directory, env)
        yield cluster
        with_jobs = ["scancel", "--user=root"]
        subprocess.run(
            with_jobs, check=False, env={**os.environ, "SLURM_CONF": str(cluster.conf)}, timeout=60
        )
        _until_empty(cluster)


def _until_empty(cluster: SlurmCluster) -> None:
    deadline = time.monotonic() + 60
    while cluster.run("squeue", "-h") and time.monotonic() < deadline:
        signal.sigtimedwait([], 0.1)
