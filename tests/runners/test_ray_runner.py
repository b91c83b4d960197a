"""The runner `ray` passes the suites of the port on a real Ray."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from contexts import fixture_of
from runners.ray_cluster import RayCluster, ray_cluster
from runners.real_engine import RealEngineSuite, Watched, attempt, dies_in, limits_at, runner_of
from transports.proxy import Proxy, proxy_before
from weft.core.states import AttemptKey, Reason
from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.calls import HttpCalls
from weft.ports.runner import Assignment
from weft.wire.log_format import STDERR, STDOUT
from weft.wire.spec import JobSpec
from weft_ray.runner.client import RayClient
from weft_ray.runner.engine import RayEngine
from weft_ray.settings import RaySettings
from weft_testing.engine_faults_suite import EngineFaultsSuite
from weft_testing.followed_output_suite import FollowedOutputSuite
from weft_testing.runner_suite import RunnerWatch, log_of

pytestmark = [pytest.mark.engine(name="ray"), pytest.mark.timeout(300)]


class _Watched(Watched, RayEngine):
    """An engine that is watched."""


def engine_of(root: Path, address: str, *, resources: str = "") -> _Watched:
    settings = RaySettings(
        ray_address=address,
        ray_look_s=0.2,
        ray_answer_s=1.5,
        ray_node_s=3,
        ray_resources=resources,
    )
    tag = hashlib.sha256(str(root).encode()).hexdigest()[:12]
    return _Watched(RayClient(settings), settings, limits_at(root), tag=tag)


cluster = fixture_of(ray_cluster, "module")


class TestRayRunner(RealEngineSuite, FollowedOutputSuite, EngineFaultsSuite):
    dies = dies_in("test_ray_runner", "_client.submit")
    odd = (HttpCalls, "call", (200, b"<html>a proxy</html>"))
    engine_of = staticmethod(engine_of)
    looks = True
    sends_signals = False
    lost_as = (Reason.LOST, Reason.SIGNAL)  # Ray lets nobody remove what it has not stopped

    proxy: Proxy

    @pytest.fixture(autouse=True)
    def _at(
        self, tmp_path: Path, cluster: RayCluster, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[None]:
        # A job of Ray begins with a Python of its own: twenty of them take their time.
        monkeypatch.setattr("weft_testing.runner_suite.WITHIN_S", 90.0)
        self.root = tmp_path
        self.cluster = cluster
        self.engines = []
        with proxy_before(cluster.address) as self.proxy:
            yield
        cluster.purge()

    def submitted(self) -> list[str]:
        told = [one["metadata"] or {} for one in self.cluster.jobs()]
        return sorted(one["weft_attempt"] for one in told if one.get("weft_state") == "given")

    async def remove_by_hand(self, name: str) -> None:
        for one in self.cluster.jobs():
            if (one["metadata"] or {}).get("weft_attempt") == name:
                self.cluster.end(one["submission_id"])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.proxy.port}"

    @asynccontextmanager
    async def engine_stopped(self) -> AsyncIterator[None]:
        """Let nothing reach Ray; what was under way is lost."""
        self.proxy.hold("out")
        try:
            yield
        finally:
            self.proxy.cut()

    async def test_requests_that_come_late_run_nothing_twice(self) -> None:
        """Ray has them all, and nobody was answered: one job runs, the one that was stopped in
        the meantime never does, or ends.
        """
        evidence = self.root / "evidence"
        spec = JobSpec(script=f"echo ran >>{evidence}; sleep 1")
        one, stopped = (attempt(n, spec) for n in (5, 6))
        async with self.ended() as agent:
            async with self.cluster.stopped(), asyncio.timeout(60):
                await agent.runner.submit([one, stopped])
                while self.engines[0].refused.count("submit") < 2:
                    await asyncio.sleep(0)
                agent.runner.stop([stopped.key], reason=Reason.CANCELLED, grace_ms=0)
            assert (await agent.end_of(one)).exit_code == 0
            assert (await agent.end_of(stopped)).reason == Reason.CANCELLED
            agent.runner.acknowledge([one.key, stopped.key])
            await self.settled()

        assert len(evidence.read_text().split()) in {1, 2}
        assert self.submitted() == []

    async def test_ends_are_what_the_program_did(self) -> None:
        """Codes, signals, both streams byte by byte; environment, stdin and directory."""
        lines = [
            "printf 'a\\377\\000b'; printf oops >&2; exit 200",
            "kill -SEGV $$",
            'cat; echo "$A $WEFT_JOB"; pwd; exit 0',
        ]
        specs = [JobSpec(script=one, executor="ray") for one in lines[:2]]
        specs.append(JobSpec(script=lines[2], stdin="in\n", env={"A": "x 'y'"}, cwd="/usr"))
        some = [attempt(n, s) for n, s in enumerate(specs, 1)]
        async with self.ended() as agent:
            await agent.runner.submit(some)
            ends = [await agent.end_of(one) for one in some]
            logs = await self.log_store().read_all([log_of(ends[0]), log_of(ends[2])])

        assert [(one.exit_code, one.signal) for one in ends] == [
            (200, None),
            (None, 11),
            (0, None),
        ]
        written = [{p.kind: p.data for p in pieces} for pieces in logs]
        assert written[0] == {STDOUT: b"a\377\0b", STDERR: b"oops"}
        assert written[1] == {STDOUT: b"in\nx 'y' b1.j3\n/usr\n"}

    async def test_stop_ends_all_processes(self) -> None:
        """Also those that do not want to."""
        one = attempt(2, JobSpec(script="trap '' TERM; (trap '' TERM; sleep 1041) & sleep 1042"))
        async with self.ended() as agent:
            await agent.begin(one)
            agent.runner.stop([one.key], reason=Reason.CANCELLED, grace_ms=0)
            assert (await agent.end_of(one)).reason == Reason.CANCELLED
            async with asyncio.timeout(20):
                while {"1041", "1042"} & set(await asyncio.to_thread(_sleepers)):
                    pass


def _sleepers() -> list[str]:
    """Return what the programs `sleep` of this host wait for."""
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = one.read_text().split("\0")
            found += words[1:2] if words[0] == "sleep" else []
    return found


class TestNodes:
    """Ray's nodes and its head die."""

    @pytest.fixture
    def gateway(self, tmp_path: Path, cluster: RayCluster) -> Iterator[RemoteRunner]:
        yield runner_of(tmp_path, engine_of(tmp_path, cluster.address, resources="side=0.1"))
        cluster.start()
        cluster.purge()

    async def _run(
        self, gateway: RemoteRunner, some: Sequence[Assignment]
    ) -> tuple[RunnerWatch, "asyncio.Future[None]"]:
        watch = RunnerWatch(gateway, await gateway.adopt())
        following = asyncio.ensure_future(watch.follow())
        await gateway.submit(some)
        async with asyncio.timeout(60):
            while len(watch.told.started) < len(some):
                await asyncio.sleep(0)
        return watch, following

    @pytest.mark.parametrize("dies", ["side", "head"])
    async def test_what_dies_loses_its_attempts(
        self,
        dies: str,
        gateway: RemoteRunner,
        cluster: RayCluster,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A node, or the head with all that it knew: nothing of them runs when they are told to
        be lost, and the next attempt runs.
        """
        monkeypatch.setattr("weft_testing.runner_suite.WITHIN_S", 90.0)
        alive = tmp_path / "alive"
        script = f"while :; do date +%s.%N >{alive}; sleep 0.1; done"
        one = attempt(1, JobSpec(script=script))
        watch, following = await self._run(gateway, [one])
        cluster.kill(dies)
        if dies == "head":
            await asyncio.to_thread(cluster.start)
        end = await watch.end_of(one)
        last = alive.read_text()
        await asyncio.to_thread(cluster.start)
        again = Assignment(AttemptKey(1, 1, 2), JobSpec(script="exit 0"), 100, 16, (1, 1))
        await gateway.submit([again])
        assert (await watch.end_of(again)).exit_code == 0
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await gateway.end()
        gateway.leave()

        assert end.reason == Reason.LOST
        assert end.started_ns > 0
        assert alive.read_text() == last
