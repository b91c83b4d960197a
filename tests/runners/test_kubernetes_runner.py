"""The runner `kubernetes` passes the suites of the port on a real control plane.

The node is a stand-in for a kubelet, which runs pods as processes and knows no images.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from urllib.error import HTTPError

import pytest

from contexts import fixture_of
from runners.kubernetes_cluster import PODS, KubernetesCluster, kubernetes_cluster
from runners.real_engine import GivenTwiceSuite, Watched, attempt, dies_in, limits_at
from weft.core.errors import Unavailable
from weft.core.states import AttemptKey, Reason
from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.calls import HttpCalls
from weft.ports.log_store import Stored
from weft.ports.runner import Assignment, GivenSecret
from weft.wire.documents.containers import ContainerDocument
from weft.wire.documents.secrets import SecretUse
from weft.wire.spec import CONTAINER, SECRETS, JobSpec
from weft_kubernetes.runner import statuses
from weft_kubernetes.runner.client import KubernetesClient, KubernetesRefused
from weft_kubernetes.runner.config import access_of
from weft_kubernetes.runner.engine import KubernetesEngine
from weft_kubernetes.runner.pods import UNTIL_BEGUN_S
from weft_kubernetes.settings import KubernetesSettings
from weft_testing.engine_faults_suite import EngineFaultsSuite
from weft_testing.followed_output_suite import FollowedOutputSuite
from weft_testing.runner_suite import assignment

pytestmark = [pytest.mark.engine(name="kubernetes"), pytest.mark.timeout(300)]

KINDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
METRICS = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods"
SECRET_LIST = "/api/v1/namespaces/default/secrets"


class _Watched(Watched, KubernetesEngine):
    """An engine that is watched."""


def engine_of(root: Path, config: str) -> _Watched:
    settings = KubernetesSettings(
        kubernetes_config=Path(config),
        kubernetes_image="any",
        kubernetes_answer_s=1.5,
        kubernetes_image_s=0.5,
        kubernetes_log_s=1,
    )
    tag = hashlib.sha256(str(root).encode()).hexdigest()[:12]
    client = KubernetesClient(access_of(settings), settings)
    return _Watched(client, settings, limits_at(root), tag=tag)


cluster = fixture_of(kubernetes_cluster, "module")


class TestKubernetesRunner(GivenTwiceSuite, FollowedOutputSuite, EngineFaultsSuite):
    dies = dies_in("test_kubernetes_runner", "_client.create")
    odd = (HttpCalls, "call", (200, b"<html>a proxy</html>"))
    brings_asks = False
    sends_signals = False
    executor = "kubernetes"
    cluster: KubernetesCluster
    engine_of = staticmethod(engine_of)

    def submitted(self) -> list[str]:
        labels = [one["metadata"]["labels"] for one in self.cluster.pods()]
        return sorted(one["weft/attempt"] for one in labels if one["weft/state"] == "given")

    async def remove_by_hand(self, name: str) -> None:
        for one in self.cluster.pods():
            if one["metadata"]["labels"]["weft/attempt"] == name:
                path = f"{PODS}/{one['metadata']['name']}"
                self.cluster.ask("PATCH", path, {"metadata": {"finalizers": None}})
                self.cluster.ask("DELETE", f"{path}?gracePeriodSeconds=0")

    @property
    def address(self) -> str:
        return str(self.cluster.config)

    def engine_stopped(self) -> AbstractAsyncContextManager[None]:
        return self.cluster.stopped()

    async def test_cluster_keeps_a_limit_from_the_start_on(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """For the time when no gateway is there."""
        monkeypatch.setattr(statuses, "RUNS_S", 0.5)
        one = attempt(8, JobSpec(command=("sleep", "60"), executor="kubernetes", timeout_s=60))

        def deadline() -> int:
            return int(self.cluster.pods()[0]["spec"]["activeDeadlineSeconds"])

        async with self.ended() as agent, asyncio.timeout(60):
            await agent.runner.submit([one])
            assert await asyncio.to_thread(deadline) == 60 + UNTIL_BEGUN_S
            while (told := await asyncio.to_thread(deadline)) >= UNTIL_BEGUN_S:
                pass
            assert 660 <= told < 700

    async def test_what_runs_is_as_it_was_submitted(self) -> None:
        """Its variables, its text to read, its script; and the pod is told."""
        script = '#!/bin/sh\nread -r line; echo "$A $line $WEFT_JOB $1"; exit 200'
        env = {"A": "it's $HOME $(B) $$"}
        one = attempt(9, JobSpec(script=script, command=("$(A)",), env=env, stdin="one\ntwo"))
        async with self.ended() as agent:
            end = await agent.run(one)
            assert end.exit_code == 200
            assert end.message.startswith("pod weft-")
            assert end.stdout_bytes == len("it's $HOME $(B) $$ one b1.j9 $(A)\n")

    async def test_image_that_cannot_be_pulled_ends_the_attempt(self) -> None:
        box = ContainerDocument(image="docker://missing/tools:1")
        spec = JobSpec(("true",), executor="kubernetes", container=box, requires=(CONTAINER,))
        one = attempt(4, spec)
        async with self.ended() as agent:
            end = await agent.run(one)
            assert (end.reason, end.started_ns) == (Reason.NO_IMAGE, 0)

    async def test_what_kubernetes_refuses_ends_with_its_words(self) -> None:
        box = ContainerDocument(image="docker://any", user="99999999999:1")
        spec = JobSpec(("true",), executor="kubernetes", container=box, requires=(CONTAINER,))
        one = attempt(4, spec)
        refused = await engine_of(self.root, self.address).submit({one.key.name: one})

        (error,) = refused.values()
        assert isinstance(error, KubernetesRefused)
        assert "runAsUser" in error.message

    async def test_pod_deleted_by_hand_ends(self) -> None:
        one = assignment(3, runs_s=60)
        async with self.ended() as agent:
            await agent.begin(one)
            (pod,) = self.cluster.pods()
            self.cluster.ask("DELETE", f"{PODS}/{pod['metadata']['name']}?gracePeriodSeconds=1")
            end = await agent.end_of(one)
            assert end.reason == Reason.SIGNAL

    async def test_output_of_a_node_that_is_gone_is_empty(self) -> None:
        """Its end is told all the same, after a while."""
        one = assignment(3)
        async with self.adopted() as agent:
            await agent.run(one)
        async with self.cluster.stopped("kubelet"):
            node = self.cluster.ask("GET", "/api/v1/nodes/n0")
            node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] = 1
            self.cluster.ask("PUT", "/api/v1/nodes/n0/status", node)
            engine = engine_of(self.root, self.address)
            await engine.statuses([one.key.name])
            first = await _output(engine, one.key.name)
            assert first == "away"
            while (found := await _output(engine, one.key.name)) == "away":
                pass
            assert found == []

    async def test_node_is_avoided_until_it_is_tried_again(self) -> None:
        """The end names it. What waits for others is given back once it may run there."""
        first, second = assignment(1), assignment(2)
        async with self.ended() as agent:
            (engine,) = self.engines
            assert isinstance(engine, KubernetesEngine)
            await agent.run(first)
            assert (await engine.statuses([first.key.name]))[first.key.name].node == "n0"
            assert isinstance(agent.runner, RemoteRunner)
            agent.runner._nodes._until["n0"] = float("inf")
            await agent.runner.submit([second])
            why = "avoided, as attempts fail there at once: n0"
            await agent.until(lambda told: any(why in one.message for one in told.entered))
            engine.avoid([])
            end = await agent.end_of(second)
            assert (end.reason, end.started_ns) == (Reason.PREEMPTED, 0)

    async def test_memory_of_what_ran_is_told_where_it_is_measured(self) -> None:
        """By what stands in the API of metrics, which is a table of the test here."""
        one = assignment(1, runs_s=3)
        async with self.ended() as agent, self.metrics():
            (engine,) = self.engines
            labels = {"weft/tag": engine._tag, "weft/attempt": one.key.name}  # type: ignore[attr-defined]
            used = [{"name": "job", "usage": {"cpu": "12345n", "memory": "70Mi"}}]
            self.cluster.ask(
                "POST",
                METRICS,
                {
                    "apiVersion": "metrics.k8s.io/v1beta1",
                    "kind": "PodMetrics",
                    "metadata": {"name": "of-one", "labels": labels},
                    "containers": used,
                },
            )
            await agent.runner.submit([one])
            assert (await agent.end_of(one)).memory_peak_bytes == 70 << 20

    @asynccontextmanager
    async def metrics(self) -> AsyncIterator[None]:
        """Let the cluster keep metrics of pods."""
        name = "pods.metrics.k8s.io"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {
            "name": "v1beta1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
        }
        note = {"api-approved.kubernetes.io": "unapproved, for a test"}
        self.cluster.ask(
            "POST",
            KINDS,
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": name, "annotations": note},
                "spec": {
                    "group": "metrics.k8s.io",
                    "scope": "Namespaced",
                    "versions": [version],
                    "names": {"plural": "pods", "singular": "pod", "kind": "PodMetrics"},
                },
            },
        )
        try:
            async with asyncio.timeout(30):
                while not self.has_metrics():
                    await asyncio.sleep(0)
            yield
        finally:
            self.cluster.ask("DELETE", f"{KINDS}/{name}")

    def has_metrics(self) -> bool:
        try:
            return self.cluster.ask("GET", METRICS) is not None
        except HTTPError:
            return False  # it is being made

    def asking_secrets(self) -> Assignment:
        """Return an attempt that writes its secrets to a file."""
        uses = (SecretUse("a", env="PASSWORD"), SecretUse("b", file="key.pem"))
        script = (
            f'cat "$WEFT_SECRETS_DIR/key.pem" >{self.root}/seen; echo $PASSWORD >>{self.root}/seen'
        )
        spec = JobSpec(script=script, secrets=uses, requires=(SECRETS,))
        values = (GivenSecret(uses[0], "swordfish"), GivenSecret(uses[1], "PRIVATE\n"))
        return Assignment(AttemptKey(1, 9, 1), spec, 100, 16, (1, 9), secrets=values)

    async def test_secrets_reach_the_pod_and_nothing_else(self) -> None:
        """They go with it; no pod, handle or log of the gateway has a value."""
        one = self.asking_secrets()
        async with self.ended() as agent:
            await agent.runner.submit([one])
            assert (await agent.end_of(one)).exit_code == 0
            assert (self.root / "seen").read_text() == "PRIVATE\nswordfish\n"
            (secret,) = self.cluster.ask("GET", SECRET_LIST)["items"]
            assert len(secret["data"]) == 2
            kept = [
                path.read_bytes() for path in (self.root / "state").rglob("*") if path.is_file()
            ]
            seen = json.dumps(self.cluster.pods()).encode() + b"".join(kept)
            assert b"swordfish" not in seen
            assert b"PRIVATE" not in seen
            agent.runner.acknowledge([one.key])
            async with asyncio.timeout(60):
                while self.cluster.ask("GET", SECRET_LIST)["items"]:
                    await asyncio.sleep(0)

    @pytest.mark.parametrize("call", ["asked", "answered"])
    async def test_gateway_killed_before_the_secrets_are_there_gives_the_job_back(
        self, call: str
    ) -> None:
        """Its values are nowhere: the next claim brings them again."""
        one = self.asking_secrets()
        await self.die_at(call, one)
        async with self.ended() as agent:
            told = await agent.until(lambda told: bool(told.withdrawn or told.ended))
            assert [*told.withdrawn, *(end.key for end in told.ended)] == [one.key]
            assert [(end.reason, end.started_ns) for end in told.ended] in (
                [],
                [(Reason.PREEMPTED, 0)],
            )

        assert not (self.root / "seen").exists()

    async def test_nothing_is_left_when_it_is_collected(self) -> None:
        one = assignment(1)
        async with self.ended() as agent:
            await agent.run(one)
            agent.runner.acknowledge([one.key])
            await self.settled()
            assert self.cluster.pods() == []


async def _output(engine: KubernetesEngine, name: str) -> object:
    try:
        return await engine.output(name, Stored())
    except Unavailable:
        return "away"
