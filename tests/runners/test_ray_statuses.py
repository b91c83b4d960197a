"""What Ray says of jobs, from answers of Ray 2.60 with other values."""

import time

import pytest

from callbacks.receiver import answering, receiving
from cases import cases
from runners.test_odd_answers import LIMITS
from weft.core.errors import Invalid, Unavailable
from weft.core.states import AttemptKey, Phase, Reason
from weft.plugins.runners.remote import Status
from weft.plugins.runners.remote.calls import LongText
from weft.ports.runner import Assignment
from weft.wire.documents.engines import EngineOptions
from weft.wire.spec import FunctionSpec, JobSpec
from weft_ray.runner.client import (
    RayClient,
    RayJob,
    RayRefused,
    WrongRayAddress,
)
from weft_ray.runner.engine import RayEngine
from weft_ray.runner.jobs import (
    LIMIT,
    Node,
    Seen,
    WrongRayResources,
    job_of,
    resources_of,
    status_of,
)
from weft_ray.settings import RaySettings

DIED = "JOB_SUPERVISOR_ACTOR_DIED"
NOW = time.time()


def status(
    word: str,
    *,
    began_ago: float | None = 10.0,
    ended_ago: float | None = 4.0,
    node: Node = Node.ANSWERS,
    limit: str | None = None,
    node_s: float = 3.0,
    **said: object,
) -> Status:
    """Return the status of a job that ended four seconds ago."""
    job = RayJob(
        word,
        submission_id="weft-x-b1-j1-a1",
        driver_node_id="0123456789abcdef",
        end_time=None if ended_ago is None else int((NOW - ended_ago) * 1000),
        metadata={} if limit is None else {LIMIT: limit},
        **said,  # type: ignore[arg-type]
    )
    return status_of(
        Seen(job, node, None if began_ago is None else NOW - began_ago), NOW, node_s=node_s
    )


@cases(
    ("found", "expected"),
    [
        (status("SUCCEEDED", driver_exit_code=0), (0, None, None)),
        (status("FAILED", driver_exit_code=200), (200, None, None)),
        (status("FAILED", driver_exit_code=-11), (None, 11, None)),
        (status("FAILED", driver_exit_code=124, limit="5.5"), (124, None, Reason.TIMEOUT)),
        (status("FAILED", driver_exit_code=-9, limit="5.5"), (None, None, Reason.TIMEOUT)),
        (status("FAILED", driver_exit_code=124, limit="60"), (124, None, None)),
        (status("STOPPED"), (None, 15, None)),
        (status("FAILED", error_type=DIED), (None, None, Reason.LOST)),
        (status("FAILED", error_type=DIED, message="killed: OOM"), (None, None, Reason.OOM)),
        (status("FAILED", error_type="RUNTIME_ENV_SETUP_FAILURE"), (None, None, Reason.SYSTEM)),
    ],
)
def test_ends_are_told(found: Status, expected: tuple[object, ...]) -> None:
    assert (found.exit_code, found.signal, found.reason) == expected
    assert found.ended_s_ago == pytest.approx(4, abs=0.1)
    assert found.started_s_ago == pytest.approx(10, abs=0.1)
    assert "0123456789ab" in found.message


def test_what_never_began_has_no_start() -> None:
    stopped = status("STOPPED", began_ago=None)
    waited = status("FAILED", began_ago=None, error_type="JOB_SUPERVISOR_ACTOR_START_TIMEOUT")
    waits = status("RUNNING", began_ago=None, ended_ago=None)

    assert (stopped.started_s_ago, stopped.signal) == (None, None)
    assert (waited.started_s_ago, waited.reason) == (None, Reason.PREEMPTED)
    assert waits.phase == Phase.QUEUED_REMOTE


def test_lost_node_may_run_its_jobs_for_a_while() -> None:
    """Ray says at once that they have failed."""
    early = status("FAILED", error_type=DIED, node=Node.GONE, node_s=60)
    late = status("FAILED", error_type=DIED, node=Node.GONE)
    silent = status("SUCCEEDED", driver_exit_code=0, began_ago=None, node=Node.SILENT, node_s=60)

    assert (early.phase, early.ended_s_ago) == (Phase.EXECUTING, None)
    assert (late.reason, late.is_gone) == (Reason.LOST, True)
    assert silent.ended_s_ago is None


@pytest.mark.parametrize(
    "spec",
    [
        JobSpec(("true",), executor="elsewhere"),
        JobSpec(function=FunctionSpec(call="a:b")),
        JobSpec(script="#" + "x" * 100_000),
        JobSpec(("true",), engine=EngineOptions(qos="high")),
    ],
)
def test_what_ray_cannot_run_is_refused(spec: JobSpec) -> None:
    one = Assignment(AttemptKey(1, 1, 1), spec, 100, 16, (1, 1))
    with pytest.raises(Invalid):
        job_of("weft-x-b1-j1-a1", one, LIMITS, resources={})


def test_settings_are_checked() -> None:
    assert resources_of(RaySettings(ray_resources="ssd=1, licence=0.5,x")) == {
        "ssd": 1.0,
        "licence": 0.5,
        "x": 1.0,
    }
    with pytest.raises(WrongRayResources):
        resources_of(RaySettings(ray_resources="ssd=many"))
    with pytest.raises(WrongRayAddress):
        RayClient(RaySettings(ray_address="ray.example"))


@pytest.mark.parametrize(
    ("code", "text"), [(401, "who?"), (502, "<html>"), (500, "Traceback\n x")]
)
async def test_ray_that_makes_no_sense_is_away(code: int, text: str) -> None:
    """A job that is given to it then does not end; what an agent refuses does."""
    async with receiving(answering(code, body=text.encode())) as server:
        client = RayClient(RaySettings(ray_address=server.url))
        with pytest.raises(Unavailable):
            await client.jobs()
        with pytest.raises(Unavailable):
            await client.submit({})
    refusal = "Traceback\nRuntimeError: failed with status code 400: no\nValueError: bad"
    async with receiving(answering(500, body=refusal.encode())) as server:
        client = RayClient(RaySettings(ray_address=server.url))
        with pytest.raises(RayRefused, match="ValueError: bad"):
            await client.submit({})


class _Head:
    """Says what it is told to know of jobs."""

    def __init__(self) -> None:
        self.known: list[RayJob] = []

    async def jobs(self) -> list[RayJob]:
        return self.known

    async def read(self, *_words: object, **_options: object) -> LongText:
        return LongText(str(NOW).encode())

    async def delete(self, _number: str) -> bool:
        return True


@pytest.mark.parametrize("node_s", [0, 60])
async def test_head_without_its_memory_proves_no_end(node_s: float) -> None:
    """A new one knows no jobs; the node of one that ran has not heard of it yet."""
    head = _Head()
    engine = RayEngine(head, RaySettings(ray_node_s=node_s), LIMITS, tag="x")  # type: ignore[arg-type]  # of it two calls are made
    told = {"weft_attempt": "weft-b1-j1-a1", "weft_state": "given", "weft_run": "1"}
    runs = RayJob("RUNNING", submission_id="weft-x-b1-j1-a1", metadata=told, driver_node_id="n")
    head.known = [runs]
    names = ["weft-b1-j1-a1", "weft-b1-j2-a1"]
    assert (await engine.statuses(names))[names[0]].phase == Phase.EXECUTING
    head.known = []
    found = await engine.statuses(names)

    assert list(found) == (names[:1] if node_s else [])
    assert all("does not know it any more" in one.message for one in found.values())
