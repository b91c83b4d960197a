"""Jobs that find their own directory at further paths, which the host need not have."""

import os
from pathlib import Path

import pytest

from weft.core.errors import WeftError
from weft.core.states import Reason
from weft.plugins.executors.process import ProcessExecutor
from weft.plugins.runners.spawner.outgoing import Outgoing
from weft.plugins.runners.spawner.sandbox import find_own_root
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.wire.spawner import Start
from weft.wire.spec import JobSpec
from worker.spawner_process import PATH, Agent, key_of

LIMITS = ExecutorLimits(grace_ms=300, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)
NAME = f"weft-test-{os.getpid()}"
needs_root = pytest.mark.skipif(
    not find_own_root().words, reason="this machine lends no mount namespace"
)


def outgoing(send: list[Start], limits: ExecutorLimits = LIMITS) -> Outgoing:
    return Outgoing(send.append, {"process": ProcessExecutor()}, limits)


def assignment(job_id: int, script: str, **more: str) -> Assignment:
    spec = JobSpec(command=("/bin/sh", "-c", script), own_paths=("/weft-io",), **more)  # type: ignore[arg-type]  # texts only
    return Assignment(key_of(job_id), spec, 1000, 16, (1, job_id))


def start(agent: Agent, *assignments: Assignment) -> None:
    sent: list[Start] = []
    messages = outgoing(sent)
    for one in assignments:
        messages.add(one)
    messages.send()
    for message in sent:
        agent.send(message)


@pytest.fixture
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


@needs_root
def test_path_is_the_directory_of_the_job_alone(agent: Agent) -> None:
    """It goes with the job; the rest of the host is where it was."""
    script = (
        f"PATH={PATH}; mkdir -p /weft-io/a && echo $1 > /weft-io/a/f && cat a/f && ls /weft-io"
    )
    start(agent, assignment(1, f"set -- one; {script}"), assignment(2, f"set -- two; {script}"))
    ends = [agent.until_ended(number) for number in (1, 2)]

    assert [agent.output(end)[0] for end in ends] == [b"one\na\n", b"two\na\n"]
    assert not Path("/weft-io").exists()


@needs_root
def test_nothing_is_lost_in_a_root_that_goes_with_the_job(agent: Agent) -> None:
    """What stands beside the directories of the host is read-only; they themselves are not."""
    script = "echo x > /weft-lost || echo refused; mkdir /weft-lost || echo again; touch /tmp/$0"
    start(agent, assignment(1, script.replace("$0", NAME)))
    end = agent.until_ended(1)
    kept = Path("/tmp", NAME)
    is_kept = kept.exists()
    kept.unlink(missing_ok=True)

    assert agent.output(end)[0] == b"refused\nagain\n"
    assert is_kept
    assert not Path("/weft-lost").exists()


@needs_root
def test_exit_code_and_kill_reach_the_job(agent: Agent) -> None:
    start(agent, assignment(1, "exit 7"), assignment(2, "trap 'exit 5' TERM; sleep 600 & wait"))
    code = agent.until_ended(1).exit_code
    agent.until_started(2)
    agent.kill(2, reason=Reason.CANCELLED, grace_ms=5000)

    assert code == 7
    assert agent.until_ended(2).killed_for == Reason.CANCELLED


@pytest.mark.usefixtures("no_programs")
def test_worker_that_lends_no_namespace_says_why() -> None:
    with pytest.raises(WeftError, match=r"`bwrap` is missing.*weft doctor"):
        outgoing([]).add(assignment(1, "true"))


def test_job_with_another_directory_is_refused() -> None:
    with pytest.raises(WeftError, match="another directory"):
        outgoing([]).add(assignment(1, "true", cwd="/tmp"))
