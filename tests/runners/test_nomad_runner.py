"""The runner `nomad` passes the suites of the port on a real Nomad."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from urllib.parse import quote

import pytest

from contexts import beside, fixture_of
from runners.nomad_cluster import NomadCluster, nomad_cluster
from runners.real_engine import (
    LIMITS,
    GivenTwiceSuite,
    Watched,
    attempt,
    dies_in,
    limits_at,
    runner_of,
)
from weft.core.states import AttemptKey, Command, Reason
from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.calls import HttpCalls
from weft.ports.runner import Assignment
from weft.wire.spec import JobSpec
from weft_nomad.runner.client import NomadClient, NomadRefused
from weft_nomad.runner.engine import NomadEngine
from weft_nomad.settings import NomadSettings
from weft_testing.engine_faults_suite import EngineFaultsSuite
from weft_testing.followed_output_suite import FollowedOutputSuite
from weft_testing.runner_suite import RunnerWatch, assignment, begun

pytestmark = [pytest.mark.engine(name="nomad"), pytest.mark.timeout(300)]


class _Watched(Watched, NomadEngine):
    """An engine that is watched."""


def engine_of(root: Path, address: str, *, look_s: float = 0.2) -> _Watched:
    settings = NomadSettings(nomad_address=address, nomad_look_s=look_s, nomad_answer_s=1.5)
    tag = root.name[-12:].strip("_-")
    return _Watched(NomadClient(settings), settings, limits_at(root), tag=tag)


cluster = fixture_of(nomad_cluster, "module")


class TestNomadRunner(GivenTwiceSuite, FollowedOutputSuite, EngineFaultsSuite):
    dies = dies_in("test_nomad_runner", "_dispatch")
    odd = (HttpCalls, "call", (200, b"<html>a proxy</html>"))
    executor = "nomad"
    cluster: NomadCluster
    engine_of = staticmethod(engine_of)
    looks = True

    def submitted(self) -> list[str]:
        found = self.cluster.ask("GET", "jobs?meta=true")
        metas = [one["Meta"] for one in found if one["ParentID"]]
        return sorted(one["weft_attempt"] for one in metas if one["weft_state"] == "given")

    async def remove_by_hand(self, name: str) -> None:
        for one in self.cluster.ask("GET", "jobs?meta=true"):
            if (one.get("Meta") or {}).get("weft_attempt") == name:
                self.cluster.ask("DELETE", f"job/{quote(one['ID'], safe='')}?purge=true")

    @property
    def address(self) -> str:
        return self.cluster.address

    def engine_stopped(self) -> AbstractAsyncContextManager[None]:
        return self.cluster.stopped()

    async def test_end_by_a_limit_is_told_to_the_gateway_that_adopts_it(self) -> None:
        adopted = attempt(9, JobSpec(command=("sleep", "60"), executor="nomad", timeout_s=6))
        async with self.adopted() as first:
            await first.runner.submit([adopted])
            await first.until(lambda told: adopted.key in begun(told))
        async with self.ended() as second:
            known = [end for end in second.known.ended if end.key == adopted.key]
            end = known[0] if known else await second.end_of(adopted)
            assert end.reason == Reason.TIMEOUT

    async def test_limit_does_not_move_and_stands_before_signals(self) -> None:
        """Both are said."""
        one = attempt(12, JobSpec(script="sleep 60", timeout_s=600))
        async with self.ended() as agent:
            await agent.begin(one)
            agent.runner.command(
                [Command(1, one.key, extra_ms=1000), Command(2, one.key, signal.SIGUSR1)]
            )
            told = dict((await agent.until(lambda told: len(told.obeyed) == 2)).obeyed)
            assert "does not move" in told[1]
            assert told[2] == "jobs with a time limit can get HUP, INT, QUIT, TERM in Nomad"
            agent.runner.command([Command(3, one.key, signal.SIGTERM)])
            assert (await agent.end_of(one)).reason is not None
        assert dict(agent.told.obeyed)[3] == ""

    async def test_what_runs_is_as_it_was_submitted(self) -> None:
        """Its variables, its text to read, its script; and the node is told."""
        script = 'read -r line; echo "$A $line $WEFT_JOB"; exit 200'
        one = attempt(9, JobSpec(script=script, env={"A": "it's $HOME"}, stdin="one\ntwo"))
        async with self.ended() as agent:
            end = await agent.run(one)
            assert end.exit_code == 200
            assert end.message.startswith("Nomad allocation ")
            assert end.stdout_bytes == len("it's $HOME one b1.j9\n")

    async def test_what_nomad_refuses_ends_with_its_words(self) -> None:
        """WORKER.NOMAD_REFUSED."""
        one = assignment(1)
        settings = NomadSettings(nomad_address=self.cluster.address, nomad_namespace="nowhere")
        engine = NomadEngine(NomadClient(settings), settings, LIMITS, tag="refused")
        refused = await engine.submit({one.key.name: one})

        (error,) = refused.values()
        assert isinstance(error, NomadRefused)
        assert "nowhere" in error.message

    async def test_what_it_waits_for_is_told(self) -> None:
        """No node has as much."""
        spec = JobSpec(command=("true",), executor="nomad")
        one = Assignment(AttemptKey(1, 9, 1), spec, 100, 1 << 24, (1, 9))
        async with self.ended() as agent:
            await agent.runner.submit([one])
            await agent.until(lambda told: any("memory is ex" in e.message for e in told.entered))

    async def test_node_is_avoided_until_it_is_tried_again(self) -> None:
        """The end names it. What waits for others is given back once it may run there, and then
        the job that avoids it goes.
        """
        first, second = assignment(1), assignment(2)
        async with self.ended() as agent:
            (engine,) = self.engines
            assert isinstance(engine, NomadEngine)
            await agent.run(first)
            node = (await engine.statuses([first.key.name]))[first.key.name].node
            assert node
            assert isinstance(agent.runner, RemoteRunner)
            agent.runner._nodes._until[node] = float("inf")
            await agent.runner.submit([second])
            await agent.until(
                lambda told: any(f"at once: {node}" in e.message for e in told.entered)
            )
            assert len(self._parents()) == 2
            engine.avoid([])
            end = await agent.end_of(second)
            assert (end.reason, end.started_ns) == (Reason.PREEMPTED, 0)
            agent.runner.acknowledge([second.key])
            agent.runner._nodes._until.clear()
            third = assignment(3)
            await agent.runner.submit([third])
            assert (await agent.end_of(third)).exit_code == 0
            await self._until(lambda: len(self._parents()) == 1)

    def _parents(self) -> list[str]:
        return [one["ID"] for one in self.cluster.ask("GET", "jobs") if not one["ParentID"]]

    async def _until(self, fact: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not fact():
                await asyncio.sleep(0)

    async def test_end_is_told_by_the_stream(self) -> None:
        """Although the next look is an hour away."""
        engine = engine_of(self.root, self.cluster.address, look_s=3600)
        self.engines.append(engine)
        runner = runner_of(self.root, engine)
        watch = RunnerWatch(runner, await runner.adopt())
        some = [assignment(number, runs_s=1) for number in range(1, 4)]
        async with beside(watch.follow()):
            await runner.submit(some)
            for one in some:
                assert (await watch.end_of(one)).exit_code == 0
        runner.leave()

    async def test_memory_of_what_ran_is_told(self) -> None:
        """Nomad measures while it runs."""
        script = "x=$(head -c 50000000 /dev/zero | tr '\\0' a); sleep 6; echo ${#x}"
        one = Assignment(AttemptKey(1, 9, 1), JobSpec(script=script), 100, 200, (1, 9))
        async with self.ended() as agent:
            await agent.runner.submit([one])
            assert (await agent.end_of(one)).memory_peak_bytes > 50_000_000

    async def test_job_of_a_drained_node_is_preempted_and_not_begun_again(self) -> None:
        """Weft decides where it runs next; Nomad would do it by itself."""
        evidence = self.root / "evidence"
        spec = JobSpec(script=f"echo ran >>{evidence}; sleep 60")
        one, other = attempt(5, spec), assignment(6)
        (node,) = self.cluster.ask("GET", "nodes")
        drain = {"DrainSpec": {"Deadline": -1}, "MarkEligible": False}
        async with self.ended() as agent:
            await agent.begin(one)
            self.cluster.ask("PUT", f"node/{node['ID']}/drain", drain)
            try:
                end = await agent.end_of(one)
            finally:
                fit = {"Eligibility": "eligible"}
                self.cluster.ask("PUT", f"node/{node['ID']}/eligibility", fit)
            await agent.runner.submit([other])
            assert (await agent.end_of(other)).exit_code == 0
            assert (end.reason, end.exit_code, end.signal) == (Reason.PREEMPTED, None, None)
            assert end.started_ns > 0

        assert evidence.read_text() == "ran\n"

    async def test_job_stopped_in_nomad_by_hand_ends(self) -> None:
        one = assignment(3, runs_s=60)
        async with self.ended() as agent:
            await agent.begin(one)
            (job,) = [each["ID"] for each in self.cluster.ask("GET", "jobs") if each["ParentID"]]
            self.cluster.ask("DELETE", f"job/{job.replace('/', '%2F')}")
            end = await agent.end_of(one)
            assert end.reason == Reason.SIGNAL
