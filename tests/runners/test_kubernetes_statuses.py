"""What pods say, as Kubernetes 1.35 writes it; and what cannot be a pod is refused."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cases import cases
from weft.core.errors import Invalid, Unavailable
from weft.core.files.products import WrongProducts
from weft.core.states import AttemptKey, Phase, Reason
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.wire.documents.containers import ContainerDocument, ContainerMount
from weft.wire.spec import FunctionSpec, JobSpec
from weft_kubernetes.runner.client import KubernetesClient
from weft_kubernetes.runner.config import WrongKubeconfig, access_of
from weft_kubernetes.runner.pods import (
    LIMIT,
    PRODUCT_BYTES,
    UNTIL_BEGUN_S,
    pod_of,
)
from weft_kubernetes.runner.statuses import (
    Seen,
    deadline_of,
    products_of,
    status_of,
)
from weft_kubernetes.settings import KubernetesSettings

LIMITS = ExecutorLimits(grace_ms=1000, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)


def at(seconds_ago: float) -> str:
    """Return a time as Kubernetes writes it."""
    return datetime.fromtimestamp(time.time() - seconds_ago, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod(
    phase: str,
    state: object = None,
    *,
    is_deleted: bool = False,
    node: str = "n1",
    **status: object,
) -> dict[str, Any]:
    """Return a pod with one container."""
    meta: dict[str, Any] = {"name": "weft-x-b1-j1-a1", "annotations": {}}
    if is_deleted:
        meta["deletionTimestamp"] = at(5)
    containers = [] if state is None else [{"name": "job", "state": state}]
    return {
        "metadata": meta,
        "spec": {"nodeName": node},
        "status": {"phase": phase, "containerStatuses": containers, **status},
    }


def done(code: int, reason: str = "Error", **more: object) -> dict[str, Any]:
    """Return the state of a container that has ended."""
    times = {"startedAt": at(10), "finishedAt": at(4)}
    return {"terminated": {"exitCode": code, "reason": reason, **times, **more}}


def disrupted(reason: str) -> list[dict[str, str]]:
    """Return the conditions of a pod that the cluster ended."""
    return [{"type": "DisruptionTarget", "status": "True", "reason": reason}]


@cases(
    ("found", "expected"),
    [
        (pod("Succeeded", done(0, "Completed")), (0, None, None)),
        (pod("Failed", done(200)), (200, None, None)),
        (pod("Failed", done(137)), (137, None, None)),
        (pod("Failed", done(137), is_deleted=True), (None, 9, None)),
        (pod("Failed", done(3), is_deleted=True), (3, None, None)),
        (pod("Failed", done(137, "OOMKilled")), (137, None, Reason.OOM)),
        (pod("Failed", done(128, "StartError")), (None, None, Reason.NO_PROGRAM)),
        (pod("Failed", done(137, "ContainerStatusUnknown")), (None, None, Reason.LOST)),
        (pod("Failed", done(137), reason="DeadlineExceeded"), (None, None, Reason.TIMEOUT)),
        (pod("Failed", done(137), reason="Evicted"), (None, None, Reason.PREEMPTED)),
        (pod("Failed", reason="Evicted"), (None, None, Reason.PREEMPTED)),
        (pod("Failed", reason="NodeLost"), (None, None, Reason.LOST)),
        (pod("Failed", reason="OutOfcpu"), (None, None, Reason.SYSTEM)),
        (
            pod(
                "Failed",
                {"running": {"startedAt": at(9)}},
                is_deleted=True,
                conditions=disrupted("DeletionByPodGC"),
            ),
            (None, None, Reason.LOST),
        ),
        (
            pod(
                "Failed", done(143), is_deleted=True, conditions=disrupted("PreemptionByScheduler")
            ),
            (None, None, Reason.PREEMPTED),
        ),
    ],
)
def test_ends_are_told(found: dict[str, Any], expected: tuple[object, ...]) -> None:
    status = status_of(Seen(found), time.time())

    assert (status.exit_code, status.signal, status.reason) == expected
    assert status.phase == Phase.COLLECTING
    assert "n1" in status.message


def test_products_are_the_message_of_an_end() -> None:
    """What a program writes is shown nowhere else; a full message may have lost its beginning."""
    line = '{"type": "FSC"}'
    whole = pod("Succeeded", done(0, "Completed", message=line))
    full = pod("Failed", done(3, message="x" * PRODUCT_BYTES))

    assert products_of(whole) == line.encode()
    assert "FSC" not in status_of(Seen(whole), time.time()).message
    assert products_of(pod("Failed", done(128, "StartError", message="no such file"))) == b""
    with pytest.raises(WrongProducts, match="less than 4096 bytes"):
        products_of(full)


def test_waiting_running_and_never_begun_are_told_apart() -> None:
    why = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1"}
    now = time.time()
    waits = status_of(Seen(pod("Pending", node="", conditions=[why])), now)
    pulls = status_of(Seen(pod("Pending", {"waiting": {"reason": "ErrImagePull"}})), now)
    runs = status_of(Seen(pod("Running", {"running": {"startedAt": at(10)}})), now)
    ending = pod("Running", {"running": {"startedAt": at(10)}}, is_deleted=True)
    never = status_of(Seen(pod("Pending", node="", is_deleted=True)), now)

    assert [one.phase for one in (waits, pulls, runs)] == [
        Phase.QUEUED_REMOTE,
        Phase.QUEUED_REMOTE,
        Phase.EXECUTING,
    ]
    assert "Unschedulable: 0/1" in waits.message
    assert "ErrImagePull" in pulls.message
    assert runs.started_s_ago == pytest.approx(10, abs=1.1)
    assert status_of(Seen(ending), now).ended_s_ago is None
    assert never.started_s_ago is None
    assert never.ended_s_ago is not None


def test_whole_seconds_are_made_exact_by_when_it_was_seen() -> None:
    now = time.time()
    second = float(int(now)) - 10
    told = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    running = pod("Running", {"running": {"startedAt": told}})

    ages = [status_of(Seen(running, seen), now).started_s_ago for seen in (second + 0.5, now)]
    assert ages == [pytest.approx(now - second - 0.5), pytest.approx(now - second - 1)]


@cases(
    "spec",
    [
        JobSpec(("true",), executor="elsewhere"),
        JobSpec(("true",)),
        JobSpec(function=FunctionSpec(call="a:b"), container=ContainerDocument("docker://any")),
        JobSpec(script="x" * 200_000, container=ContainerDocument("docker://any")),
        JobSpec(stdin="x", container=ContainerDocument("docker://any")),
        JobSpec(("true",), container=ContainerDocument("oci:/images/a")),
        JobSpec(("true",), container=ContainerDocument("docker://elsewhere/a")),
        JobSpec(("true",), container=ContainerDocument("docker://any", user="root")),
        JobSpec(
            ("true",), container=ContainerDocument("docker://any", (ContainerMount("/", "/a"),))
        ),
    ],
)
def test_what_kubernetes_cannot_run_is_refused(spec: JobSpec) -> None:
    settings = KubernetesSettings(kubernetes_images="any,registry.example/*")
    one = Assignment(AttemptKey(1, 1, 1), spec, 100, 16, (1, 1))
    with pytest.raises(Invalid):
        pod_of("weft-x-b1-j1-a1", one, settings, LIMITS, tag="x")


def test_pod_of_an_image_asks_for_no_more_than_the_job_does() -> None:
    box = ContainerDocument("docker://registry.example/a:1", user="10:20")
    spec = JobSpec(executor="kubernetes", container=box, timeout_s=1.5, env={"A": "$(B)"})
    one = Assignment(AttemptKey(1, 1, 1), spec, 250, 16, (1, 1), gpu=1)
    found = pod_of("weft-x-b1-j1-a1", one, KubernetesSettings(), LIMITS, tag="x")

    (container,) = found["spec"]["containers"]
    assert container["image"] == "registry.example/a:1"
    assert "command" not in container
    assert container["resources"] == {
        "requests": {"cpu": "250m", "memory": "16Mi"},
        "limits": {"memory": "16Mi", "nvidia.com/gpu": "1"},
    }
    assert container["securityContext"]["runAsUser"] == 10
    assert {"name": "A", "value": "$$(B)"} in container["env"]
    assert found["spec"]["activeDeadlineSeconds"] == 86_402
    assert found["spec"]["restartPolicy"] == "Never"
    assert found["spec"]["automountServiceAccountToken"] is False


def test_pull_of_an_image_takes_nothing_of_a_time_limit() -> None:
    """The cluster counts from before it: what it is told at first is longer, then exact."""
    one = pod("Running", {"running": {"startedAt": at(60)}}, startTime=at(1260))
    one["metadata"]["annotations"] = {LIMIT: "3600000"}
    one["spec"]["activeDeadlineSeconds"] = 3600 + UNTIL_BEGUN_S
    seen = Seen(one, time.time() - 60, None)
    deadline = deadline_of(seen, time.time(), more_s=30)

    assert deadline is not None
    assert 0 <= deadline - (1200 + 3600 + 30) <= 1
    assert deadline_of(seen, time.time() - 60, more_s=30) is None  # too young
    one["spec"]["activeDeadlineSeconds"] = deadline
    assert deadline_of(seen, time.time(), more_s=30) is None


async def test_kubeconfig_is_checked_and_silence_is_not_the_jobs_fault(tmp_path: Path) -> None:
    path = tmp_path / "config"
    settings = KubernetesSettings(kubernetes_config=path, kubernetes_answer_s=2)
    with pytest.raises(WrongKubeconfig, match="No such file"):
        access_of(settings)
    path.write_text("a: [secret")
    with pytest.raises(WrongKubeconfig) as caught:
        access_of(settings)
    path.write_text(
        "current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"
        'clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]\n'
        "users: [{name: a, user: {}}]\n"
    )
    client = KubernetesClient(access_of(settings), settings)
    with pytest.raises(Unavailable, match="Kubernetes is away"):
        await client.listed("a=b")

    assert "secret" not in str(caught.value)
