"""The runner `slurm` passes the suites of the port on a real cluster."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from pathlib import Path

import pytest

from contexts import fixture_of
from runners.real_engine import LIMITS, GivenTwiceSuite, Watched, attempt, limits_at
from runners.slurm_cluster import SlurmCluster, SpeakingSuite, given_in, slurm_cluster
from weft.core.states import AttemptKey, Command, Phase, Reason
from weft.plugins.runners.remote.ssh import Answer
from weft.ports.runner import Assignment, Happened
from weft.wire.documents.engines import EngineOptions
from weft.wire.spec import JobSpec
from weft_slurm.runner.commands import SlurmCommands, SlurmRefused
from weft_slurm.runner.engine import SlurmEngine
from weft_slurm.runner.folder import SharedFiles
from weft_slurm.runner.shell import LocalShell
from weft_slurm.settings import SlurmSettings
from weft_testing.engine_faults_suite import EngineFaultsSuite
from weft_testing.runner_suite import assignment

pytestmark = [pytest.mark.engine(name="slurm"), pytest.mark.timeout(300)]

TAG = "ofthetest"
DIES = """
import asyncio, os, pathlib, signal, sys
import msgspec
from runners import test_slurm_runner as here
from runners.real_engine import runner_of
from weft.ports.runner import Assignment

async def main():
    root, conf, call = sys.argv[1:]
    engine = here.engine_of(pathlib.Path(root), pathlib.Path(conf))
    runner = runner_of(pathlib.Path(root), engine)
    await runner.adopt()
    def die(*words, **options):
        os.kill(os.getpid(), signal.SIGKILL)
    where, name = {
        "submit": (engine, "submit"),
        "sbatch": (engine._commands, "submit"),
        "noted": (engine._files, "number_array"),
    }[call]
    setattr(where, name, die)
    await runner.submit([msgspec.json.decode(sys.stdin.buffer.read(), type=Assignment)])

asyncio.run(main())
"""


class _Watched(Watched, SlurmEngine):
    """An engine that is watched."""


def engine_of(root: Path, conf: Path | str) -> _Watched:
    settings = SlurmSettings(
        slurm_conf=Path(conf),
        slurm_look_s=0.2,
        slurm_answer_s=10,
        slurm_missing_s=10,
    )
    commands, files = (
        SlurmCommands(LocalShell(settings), settings),
        SharedFiles(root / "shared" / TAG),
    )
    return _Watched(commands, files, settings, limits_at(root), tag=TAG)


cluster = fixture_of(slurm_cluster, "module")


class TestSlurmRunner(GivenTwiceSuite, SpeakingSuite, EngineFaultsSuite):
    odd = (LocalShell, "run", Answer(0, "Welcome to the cluster!\n", ""))
    lost_as = (Reason.LOST, Reason.SYSTEM)
    keeps_start = False  # it was in the folder
    dies = DIES
    dies_at = "submit"
    kills = ("sbatch", "noted")
    executor = "slurm"
    cluster: SlurmCluster
    engine_of = staticmethod(engine_of)

    def submitted(self) -> list[str]:
        return given_in(self.root / "shared" / TAG)

    async def remove_by_hand(self, name: str) -> None:
        self.cluster.purge()
        await SharedFiles(self.root / "shared" / TAG).forget([name])

    @property
    def address(self) -> str:
        return str(self.cluster.conf)

    def engine_stopped(self) -> AbstractAsyncContextManager[None]:
        has_some = any(isinstance(one, SlurmEngine) and one._given for one in self.engines)
        return self.cluster.controller_down(saves=has_some)

    def other_engine(self) -> _Watched:
        """The folder of an attempt is the fence, whatever Slurm was told."""
        other = engine_of(self.root, self.cluster.conf)
        other._is_read = True  # it has not read what was submitted
        return other

    async def test_limit_moves_and_so_does_slurms(self) -> None:
        """And signals are named that shells beside a job let through."""
        one = attempt(12, JobSpec(script="sleep 8", executor="slurm", timeout_s=4))
        async with self.ended() as agent:
            await agent.begin(one)
            agent.runner.command(
                [Command(1, one.key, extra_ms=120_000), Command(2, one.key, signal.SIGINT)]
            )
            told = await agent.until(lambda told: len(told.obeyed) == 2)
            limit = self.cluster.run("squeue", "-h", "-t", "R", "-o", "%l").strip()
            assert (await agent.end_of(one)).exit_code == 0
        assert dict(told.obeyed) == {1: "", 2: "jobs in Slurm can get HUP, TERM, USR1, USR2"}
        assert limit == "4:00"

    async def test_what_it_used_is_told(self) -> None:
        """Processors by the node's shell, memory by Slurm's accounting where there is one: no end
        waits for that, so it misses some.
        """
        script = (
            "x=$(head -c 50000000 /dev/zero | tr '\\0' a); i=0\n"
            "while [ $i -lt 2000000 ]; do i=$((i+1)); done; sleep 2; echo ${#x}"
        )
        spec = JobSpec(script=script, executor="slurm")
        peak = 0
        async with self.ended() as agent:
            for number in range(1, 6):
                one = Assignment(AttemptKey(1, number, 1), spec, 100, 200, (1, number))
                end = await agent.run(one)
                assert 300 < end.cpu_ms < 60_000
                if peak := end.memory_peak_bytes:
                    break
        assert peak > 50_000_000

    async def test_program_that_is_missing_is_named_so(self) -> None:
        one = attempt(9, JobSpec(command=("/nonexistent/program",), executor="slurm"))
        async with self.ended() as agent:
            end = await agent.run(one)
            assert (end.reason, end.exit_code) == (Reason.NO_PROGRAM, 127)

    async def test_what_slurm_refuses_ends_with_its_words(self) -> None:
        """WORKER.SLURM_REFUSED; nothing of it is left."""
        one = assignment(1)
        conf = SlurmSettings(slurm_conf=self.cluster.conf, slurm_options="--partition=nowhere")
        root = self.root / "shared" / TAG
        commands = SlurmCommands(LocalShell(conf), conf)
        engine = SlurmEngine(commands, SharedFiles(root), conf, LIMITS, tag=TAG)
        refused = await engine.submit({one.key.name: one})

        (error,) = refused.values()
        assert isinstance(error, SlurmRefused)
        assert "Invalid partition name" in error.message
        assert given_in(root) == []

    async def test_job_chooses_what_the_gateway_allows(self) -> None:
        """Its choice wins over the gateway's own options; another one is refused by name."""
        conf = SlurmSettings(
            slurm_conf=self.cluster.conf,
            slurm_options="--partition=nowhere",
            slurm_choices="partition=a*, qos=x",
        )
        root = self.root / "shared" / TAG
        engine = SlurmEngine(
            SlurmCommands(LocalShell(conf), conf), SharedFiles(root), conf, LIMITS, tag=TAG
        )

        def asking(number: int, choice: EngineOptions) -> Assignment:
            spec = JobSpec(script="true", executor="slurm", engine=choice)
            return attempt(number, spec)

        some = [
            asking(1, EngineOptions(partition="all")),
            asking(2, EngineOptions(account="climate")),
        ]
        refused = await engine.submit({one.key.name: one for one in some})

        assert [*refused] == [some[1].key.name]
        assert "does not allow account climate" in str(refused[some[1].key.name])
        assert self.cluster.run("squeue", "-h", "-t", "all", "-o", "%P").split()[0] == "all"

    async def test_job_runs_on_several_nodes_at_once(self, tmp_path: Path) -> None:
        """Its first process knows them all, and `srun` begins one on each."""
        seen = tmp_path / "seen"
        script = (
            f"exec >{seen}; srun printenv SLURMD_NODENAME | sort; cat $WEFT_NODE_FILE\n"
            "echo $WEFT_NODES $MASTER_ADDR $SLURM_CPUS_PER_TASK; [ $MASTER_PORT -ge 20000 ]"
        )
        spec = JobSpec(script=script, executor="slurm", engine=EngineOptions(nodes=2))
        one = Assignment(AttemptKey(1, 14, 1), spec, 2000, 200, (1, 14))
        async with self.ended() as agent:
            await agent.runner.submit([one])
            assert (await agent.end_of(one)).exit_code == 0
        assert seen.read_text().split() == ["n0", "n1", "n0", "n1", "2", "n0", "1"]

    async def test_job_has_nothing_of_the_gateways_environment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nor does a login shell begin before it."""
        monkeypatch.setenv("WEFT_CANARY", "swordfish")
        seen = tmp_path / "seen"
        one = attempt(11, JobSpec(script=f"env >{seen}; ps -e -o args >>{seen}", executor="slurm"))
        async with self.ended() as agent:
            await agent.runner.submit([one])
            assert (await agent.end_of(one)).exit_code == 0

        assert "SLURM_JOB_ID=" in seen.read_text()
        assert "swordfish" not in seen.read_text()
        assert "SLURMSTARTPARSI" not in seen.read_text()

    async def test_nodes_are_avoided_unless_nothing_else_is_there(self) -> None:
        """What is submitted later goes elsewhere, and the end names its node."""
        engine = engine_of(self.root, self.cluster.conf)
        for number, avoided in enumerate((["n0"], ["n1"], ["n0", "n1"]), 1):
            one = assignment(number)
            engine.avoid(avoided)
            assert await engine.submit({one.key.name: one}) == {}
            async with asyncio.timeout(60):
                while (found := await engine.statuses([one.key.name]))[
                    one.key.name
                ].ended_s_ago is None:
                    await engine.changed()
            node = found[one.key.name].node
            assert node == {"n0": "n1", "n1": "n0"}.get("".join(avoided), node)
            await engine.forget([one.key.name])

    async def test_what_it_waits_for_is_told(self) -> None:
        """And on which node it runs then."""
        one = assignment(4, runs_s=60)
        with self._partition_down() as up:
            async with self.ended() as agent:
                await agent.runner.submit([one])
                await agent.until(lambda told: _says(told, Phase.QUEUED_REMOTE, "PartitionDown"))
                up()
                await agent.until(lambda told: _says(told, Phase.EXECUTING, " on n"))

    @contextmanager
    def _partition_down(self) -> Iterator[Callable[[], object]]:
        words = ("scontrol", "update", "PartitionName=all")
        self.cluster.run(*words, "State=DOWN")
        up = partial(self.cluster.run, *words, "State=UP")
        try:
            yield up
        finally:
            up()

    def _task(self) -> str:
        """Return the only one: what ends just now, of earlier tests, does not count."""
        (task,) = self.cluster.run("squeue", "-h", "-r", "-t", "PD,R", "-o", "%i").split()
        return task

    async def test_job_held_in_slurm_by_hand_says_so(self) -> None:
        """And runs when it is released."""
        one = assignment(4)
        with self._partition_down() as up:
            async with self.ended() as agent:
                await agent.runner.submit([one])
                await agent.until(lambda told: _says(told, Phase.QUEUED_REMOTE, "PartitionDown"))
                task = self._task()
                self.cluster.run("scontrol", "hold", task)
                up()
                await agent.until(lambda told: _says(told, Phase.QUEUED_REMOTE, "JobHeld"))
                self.cluster.run("scontrol", "release", task)
                assert (await agent.end_of(one)).exit_code == 0

    async def test_job_requeued_in_slurm_by_hand_runs_once(self, tmp_path: Path) -> None:
        """Whoever requeues it allows that first; its second start finds nothing to do, and weft
        decides whether the job runs again.
        """
        evidence = tmp_path / "evidence"
        one = attempt(6, JobSpec(script=f"echo ran >>{evidence}; sleep 60", executor="slurm"))
        async with self.ended() as agent:
            await agent.begin(one)
            task = self._task()
            self.cluster.run("scontrol", "update", f"JobId={task}", "Requeue=1")
            self.cluster.run("scontrol", "requeue", task)
            end = await agent.end_of(one)
            assert (end.reason, end.exit_code) == (Reason.PREEMPTED, None)
            assert end.started_ns > 0
            assert len(agent.told.ended) == 1

        assert evidence.read_text() == "ran\n"

    async def test_job_cancelled_in_slurm_by_hand_ends(self) -> None:
        """And says what Slurm says."""
        one = assignment(3, runs_s=60)
        async with self.ended() as agent:
            await agent.begin(one)
            task = self._task()
            self.cluster.run("scancel", task)
            end = await agent.end_of(one)
            assert end.reason == Reason.SIGNAL
            assert f"Slurm job {task}" in end.message

    async def test_job_that_the_controller_has_forgotten_is_no_success(self) -> None:
        """As what is younger than its last save when it is killed: nodes end such jobs."""
        one = assignment(2, runs_s=600)
        async with self.ended() as agent:
            await agent.begin(one)
            async with self.cluster.controller_down(forgets=True):
                pass
            ended = await agent.end_of(one)
            assert ended.reason == Reason.LOST
            assert ended.started_ns > 0

    async def test_hundred_attempts_go_as_one_array(self) -> None:
        some = [assignment(number) for number in range(1, 101)]
        async with self.ended() as agent:
            await agent.runner.submit(some)
            await asyncio.gather(*(_end(agent, one) for one in some))
            arrays = set(self.cluster.run("squeue", "-h", "-t", "all", "-o", "%F").split())
            assert {end.exit_code for end in agent.told.ended} == {0}
            assert len({end.message.split()[2].partition("_")[0] for end in agent.told.ended}) == 1
            assert arrays


def _says(told: Happened, phase: Phase, words: str) -> bool:
    return any(one.phase == phase and words in one.message for one in told.entered)


async def _end(agent: object, one: Assignment) -> None:
    async with asyncio.timeout(180):
        while True:
            try:
                await agent.end_of(one)  # type: ignore[attr-defined]
            except TimeoutError:
                continue
            return
