"""Order and capacity, and agents that come and go."""

import os
import subprocess
import sys
import time
from pathlib import Path

from weft.core.states import Reason
from weft.wire.spawner import Acknowledge, Hello
from weft.worker.spawner.loop import NS, EventLoop
from worker.spawner_process import Agent, SpawnerProcess, key_of, process


def test_processes_start_in_order_within_the_capacity(agent: Agent) -> None:
    agent.start(*(process(job_id, "sleep", "0.02") for job_id in range(1, 21)))
    ends = [agent.until_ended(job_id) for job_id in range(1, 21)]

    # Two are started side by side; nobody overtakes those before.
    assert all(
        one.started_ns <= other.started_ns for one, other in zip(ends, ends[2:], strict=False)
    )
    for ended in ends:
        beside = [one for one in ends if one.started_ns <= ended.started_ns < one.ended_ns]
        assert len(beside) <= 2


def test_nobody_overtakes(agent: Agent) -> None:
    agent.start(
        process(1, "sleep", "0.1"), process(2, "true", cpu_m=2000), process(3, "true", cpu_m=1)
    )
    ends = [agent.until_ended(job_id) for job_id in (1, 2, 3)]

    assert ends[0].ended_ns <= ends[1].started_ns
    assert ends[1].ended_ns <= ends[2].started_ns


def test_memory_is_reserved_too(agent: Agent) -> None:
    agent.start(
        process(1, "sleep", "0.1", cpu_m=1, memory_mib=600),
        process(2, "true", cpu_m=1, memory_mib=600),
    )

    assert agent.until_ended(1).ended_ns <= agent.until_ended(2).started_ns


def test_what_is_larger_than_everything_runs_alone(agent: Agent) -> None:
    agent.start(process(1, "sleep", "0.05"), process(2, "true", cpu_m=9_000, memory_mib=99_000))

    assert agent.until_ended(1).ended_ns <= agent.until_ended(2).started_ns


def test_ends_are_kept_until_they_are_acknowledged(spawner: SpawnerProcess) -> None:
    first = spawner.connect()
    first.start(
        process(1, "echo", "x"),
        process(2, "sleep", "60"),
        process(3, "sleep", "60"),
        process(4, "true"),
    )
    first.until_ended(1)
    first.until_started(3)
    first.close()

    second = spawner.connect()
    welcome = second.welcome
    assert [one.key for one in welcome.ended] == [key_of(1)]
    assert {one.key for one in welcome.live} == {key_of(2), key_of(3)}
    assert welcome.queued == [key_of(4)]
    assert welcome.incarnation == first.welcome.incarnation
    second.send(Acknowledge([key_of(1)]))
    second.kill(2, 3, reason=Reason.CANCELLED, grace_ms=0)
    for job_id in (2, 3, 4):
        second.until_ended(job_id)

    third = spawner.connect()
    assert {one.key for one in third.welcome.ended} == {key_of(2), key_of(3), key_of(4)}


def test_newest_agent_is_served(spawner: SpawnerProcess) -> None:
    first = spawner.connect()
    first.start(process(1, "sleep", "0.1"))
    second = spawner.connect()

    assert first.is_closed_by_spawner()
    assert second.until_ended(1).exit_code == 0


def test_work_goes_on_while_no_agent_is_there(spawner: SpawnerProcess) -> None:
    first = spawner.connect()
    first.start(*(process(job_id, "echo", str(job_id)) for job_id in range(1, 101)))
    first.close()

    second = spawner.connect()
    for one in second.welcome.ended:
        second.ended[one.key] = one
    outputs = [second.output(second.until_ended(job_id))[0] for job_id in range(1, 101)]
    assert outputs == [b"%d\n" % job_id for job_id in range(1, 101)]


def test_agent_that_does_not_read_stops_nothing(spawner: SpawnerProcess) -> None:
    sleeper = spawner.connect()
    count = 3000
    sleeper.start(*(process(job_id) for job_id in range(1, count + 1)))

    awake = spawner.connect()
    for one in awake.welcome.ended:
        awake.ended[one.key] = one
    for job_id in range(1, count + 1):
        awake.until_ended(job_id)


def test_second_spawner_is_refused(spawner: SpawnerProcess) -> None:
    names = ("s.sock", "s.lock", "logs", "scratch", "checkpoints")
    words = [str(spawner.root / word) for word in names]
    second = subprocess.run(
        [sys.executable, "-m", "weft.worker.spawner", *words, "1"],
        check=False,
        capture_output=True,
    )

    assert second.returncode == 3
    assert spawner.connect().run("true").exit_code == 0


def test_capacity_may_change(spawner: SpawnerProcess) -> None:
    agent = spawner.connect(cpu_m=1000)
    agent.start(process(1, "sleep", "0.2"), process(2, "sleep", "0.2"))
    agent.send(Hello(2000, 1000))
    first, second = agent.until_ended(1), agent.until_ended(2)

    assert second.started_ns < first.ended_ns


def test_few_open_files_are_borne(short_path: Path) -> None:
    """With 24 files only some processes can run at a time; the others wait."""
    spawner = SpawnerProcess(short_path)
    limit = f"{spawner.pid}"
    subprocess.run(["prlimit", "--pid", limit, "--nofile=24:24"], check=True)
    agent = spawner.connect(cpu_m=100_000)
    agent.start(*(process(job_id, "sleep", "0.05") for job_id in range(1, 31)))
    ends = [agent.until_ended(job_id) for job_id in range(1, 31)]
    spawner.stop()

    assert [ended.exit_code for ended in ends] == [0] * 30


def test_time_limits_may_be_longer_than_the_kernel_waits() -> None:
    """A job of six weeks must not end its spawner."""
    loop, told = EventLoop(), list[str]()
    reading, writing = os.pipe()
    loop.watch(reading, lambda: told.append(os.read(reading, 1).decode()))
    loop.at(time.monotonic_ns() + 42 * 86_400 * NS, lambda: told.append("late"))
    os.write(writing, b"x")
    loop.turn(None)
    os.close(reading)
    os.close(writing)

    assert told == ["x"]
