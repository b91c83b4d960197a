"""The runner `slurm` by ssh passes the suite of the port, through a real sshd to a real Slurm."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace

import asyncssh
import pytest

from contexts import fixture_of
from runners.real_engine import Watched, attempt, limits_at, runner_of
from runners.slurm_cluster import SlurmCluster, SpeakingSuite, given_in, slurm_cluster
from runners.test_slurm_runner import DIES
from weft.core.errors import Unavailable
from weft.core.states import Reason
from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.ssh import Login
from weft.ports.log_store import Stored
from weft.ports.runner import Assignment
from weft.wire.log_format import STDOUT
from weft.wire.spec import JobSpec
from weft_slurm.runner.commands import SlurmCommands
from weft_slurm.runner.engine import SlurmEngine
from weft_slurm.runner.files import StagedFiles
from weft_slurm.runner.folder import SharedFiles
from weft_slurm.runner.shell import login_of
from weft_slurm.settings import SlurmSettings
from weft_testing.engine_faults_suite import EngineFaultsSuite
from weft_testing.runner_suite import assignment, begun
from weft_testing.until import until

pytestmark = [pytest.mark.engine(name="ssh"), pytest.mark.timeout(300)]

TAG = "ofthelogin"
STREAM_BYTES = 1 << 16
SCRIPT = Path(__file__).resolve().parents[1] / "servers" / "sshd.sh"
PORT = 16990
_DIES = DIES.replace("test_slurm_runner", "test_ssh_runner").replace("pathlib.Path(conf)", "conf")


class _Watched(Watched, SlurmEngine):
    """An engine that is watched."""

    shell: Login


def settings_of(root: Path, address: str) -> SlurmSettings:
    conf, sshd = (Path(one) for one in address.split())
    return SlurmSettings(
        slurm_conf=conf,
        slurm_look_s=0.2,
        slurm_answer_s=10,
        slurm_directory=root / "cluster",
        slurm_login=f"root@127.0.0.1:{PORT}",
        slurm_login_identity=sshd / "etc" / "user",
        slurm_login_host=(sshd / "etc" / "host.pub").read_text(),
    )


def engine_of(root: Path, address: str) -> _Watched:
    settings = settings_of(root, address)
    login = login_of(settings)
    files = StagedFiles(login, f"{settings.slurm_directory}/{TAG}")
    limits = replace(limits_at(root), stream_bytes_max=STREAM_BYTES)
    engine = _Watched(SlurmCommands(login, settings), files, settings, limits, tag=TAG)
    engine.shell = login
    return engine


class Sshd:
    """A server that can be killed with all its sessions."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def run(self, *words: str) -> None:
        subprocess.run([SCRIPT, *words], check=True, capture_output=True, timeout=60)

    def start(self) -> None:
        self.run("start", str(self.directory), str(PORT))

    def kill(self) -> None:
        """Kill it, and what serves its sessions; commands that they began go on."""
        pid = int((self.directory / "run" / "sshd.pid").read_text().split()[0])
        for one in [pid, *_children(pid)]:
            os.kill(one, signal.SIGKILL)

    @asynccontextmanager
    async def down(self) -> AsyncIterator[None]:
        self.kill()
        try:
            yield
        finally:
            await asyncio.to_thread(self.start)


def _children(pid: int) -> list[int]:
    direct = (Path("/proc") / str(pid) / "task" / str(pid) / "children").read_text().split()
    return [int(one) for one in direct]


cluster = fixture_of(slurm_cluster, "module")


@pytest.fixture(scope="module")
def sshd(cluster: SlurmCluster) -> Iterator[Sshd]:
    server = Sshd(Path(mkdtemp(prefix="weft-sshd-")))
    try:
        server.start()
        yield server
    finally:
        server.run("stop", str(server.directory))
        shutil.rmtree(server.directory)


class TestSlurmLogin(SpeakingSuite, EngineFaultsSuite):
    odd = (
        asyncssh.SSHClientConnection,
        "run",
        SimpleNamespace(exit_status=0, stdout="Welcome to the cluster!\n", stderr=""),
    )
    lost_as = (Reason.LOST, Reason.SYSTEM)
    keeps_start = False  # it was in the folder
    dies = _DIES
    dies_at = "submit"
    kills = ("sbatch", "noted")
    executor = "slurm"

    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path, cluster: SlurmCluster, sshd: Sshd) -> Iterator[None]:
        self.root = tmp_path
        self.cluster = cluster
        self.sshd = sshd
        self.engines = []
        yield
        cluster.run("scancel", "-Q", "--user=root")

    @property
    def address(self) -> str:
        return f"{self.cluster.conf} {self.sshd.directory}"

    def assignment(self, job_id: int, *, runs_s: float = 0.0, fails: bool = False) -> Assignment:
        """Return one that runs through a look or two, which take a while by ssh."""
        runs_s = max(runs_s, 3.0) if runs_s else 0.0
        return super().assignment(job_id, runs_s=runs_s, fails=fails)

    def runner(self) -> RemoteRunner:
        engine = engine_of(self.root, self.address)
        self.engines.append(engine)
        return runner_of(self.root, engine, engine.shell.close)

    def submitted(self) -> list[str]:
        return given_in(self.root / "cluster" / TAG)

    async def remove_by_hand(self, name: str) -> None:
        self.cluster.run("scancel", "-Q", "--user=root")
        await SharedFiles(self.root / "cluster" / TAG).forget([name])

    def engine_stopped(self) -> AbstractAsyncContextManager[None]:
        return self.sshd.down()

    async def test_nothing_is_lost_when_the_login_node_dies_meanwhile(self) -> None:
        """What ran goes on, what was on its way is submitted once, and ends are told."""
        runs, later = assignment(1, runs_s=1), [assignment(n) for n in range(2, 12)]
        async with self.ended() as agent:
            await agent.runner.submit([runs])
            await agent.until(lambda told: runs.key in begun(told))
            async with self.sshd.down():
                submitting = asyncio.ensure_future(agent.runner.submit(later))
                await until(lambda: "submit" in self.engines[-1].refused, 20)
            await submitting
            ends = [await agent.end_of(one) for one in [runs, *later]]
            assert {end.exit_code for end in ends} == {0}
            assert len(agent.told.ended) == len(ends)

    async def test_controller_may_be_away_behind_the_login_node(self) -> None:
        one = assignment(1)
        async with self.ended() as agent:
            async with self.cluster.controller_down(), asyncio.timeout(60):
                submitting = asyncio.ensure_future(agent.runner.submit([one]))
                await self._until_failed("submit")
            await submitting
            assert (await agent.end_of(one)).exit_code == 0

    async def test_long_output_is_collected_without_its_middle(self) -> None:
        spec = JobSpec(script="head -c 1000000 /dev/zero | tr '\\0' x", executor="slurm")
        one = attempt(7, spec)
        async with self.ended() as agent:
            await agent.run(one)
            (path,) = (self.root / "cluster" / TAG).glob("weft-b1-j7-a1/out")
            assert path.stat().st_size == 1_000_000
            engine = engine_of(self.root, self.address)
            pieces = await engine.output(one.key.name, Stored())
            engine.shell.close()
            kept = sum(len(piece.data) for piece in pieces if piece.kind == STDOUT)
            assert kept == STREAM_BYTES

    async def test_host_with_another_key_is_not_spoken_to(self) -> None:
        settings = settings_of(self.root, self.address)
        other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
        wrong = SlurmSettings(**{**vars(settings), "slurm_login_host": other})
        with pytest.raises(Unavailable) as caught:
            await login_of(wrong).run(["true"])
        assert "not trusted" in (caught.value.detail or "")

    async def test_connection_ends_with_the_agent(self) -> None:
        """The server sees it go."""
        pid = int((self.sshd.directory / "run" / "sshd.pid").read_text().split()[0])
        others = _children(pid)
        engine = engine_of(self.root, self.address)
        runner = runner_of(self.root, engine, engine.shell.close)
        await engine.statuses([])
        own = {*_children(pid)} - {*others}
        assert own
        runner.leave()
        await until(lambda: not own & {*_children(pid)}, 20)
