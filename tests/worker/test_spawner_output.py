"""What is kept of what processes write."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import contexts
from weft.core.states import Reason
from weft.plugins.log_stores.files.store import FileLogStore
from weft.ports.log_store import AttemptLog
from weft.wire.spawner import Acknowledge, Hello
from weft.worker.spawner.loop import NS, EventLoop
from worker.pieces import each
from worker.spawner_process import DEADLINE_S, Agent, SpawnerProcess, key_of, process

_MIB = 1 << 20


def test_many_short_outputs_stand_in_one_segment(agent: Agent, spawner: SpawnerProcess) -> None:
    agent.start(*(process(job_id, "echo", str(job_id)) for job_id in range(1, 101)))
    ends = [agent.until_ended(job_id) for job_id in range(1, 101)]

    assert [agent.output(ended)[0] for ended in ends] == [b"%d\n" % n for n in range(1, 101)]
    assert {ended.segment for ended in ends} == {1}
    assert not (spawner.logs / "attempts").exists()


def test_slow_output_has_a_file_that_is_written_while_it_runs(
    agent: Agent, spawner: SpawnerProcess, short_path: Path
) -> None:
    fifo = short_path / "fifo"
    os.mkfifo(fifo)
    agent.begin(process(1, "sh", "-c", f"echo first; cat {fifo}; echo last"))
    asyncio.run(_until_written(spawner.logs, b"first\n"))

    fifo.write_text("second\n")

    ended = agent.until_ended(1)
    assert (ended.segment, ended.offset) == (None, None)
    assert agent.output(ended)[0] == b"first\nsecond\nlast\n"


async def _until_written(logs: Path, text: bytes) -> None:
    place = AttemptLog(
        1,
        1,
        1,
        ended=False,
        location=None,
        stdout_bytes=0,
        stderr_bytes=0,
        truncated=False,
        state="running",
    )
    async with asyncio.timeout(DEADLINE_S):
        async for piece in each(FileLogStore(logs).follow(place, 0)):
            if text in piece.data:
                return


def test_streams_are_kept_apart_each_in_order(agent: Agent) -> None:
    script = "for i in $(seq 3000); do echo o$i; echo e$i >&2; done"
    ended = agent.run("bash", "-c", script)

    out, err, left_out = agent.output(ended)
    assert out.decode().split() == [f"o{i}" for i in range(1, 3001)]
    assert err.decode().split() == [f"e{i}" for i in range(1, 3001)]
    assert left_out == 0


def test_long_stream_keeps_head_and_tail(agent: Agent) -> None:
    script = "seq 1000000; echo oops >&2"
    text = "".join(f"{i}\n" for i in range(1, 1000001)).encode()

    ended = agent.run("sh", "-c", script, stream_bytes_max=_MIB, stream_head_bytes=1000)

    out, err, left_out = agent.output(ended)
    assert out == text[:1000] + text[-(_MIB - 1000) :]
    assert err == b"oops\n"
    assert left_out == len(text) - _MIB
    assert ended.truncated
    assert ended.stdout_bytes == len(text)


def test_short_stream_above_a_small_limit_is_cut(agent: Agent) -> None:
    ended = agent.run("printf", "0123456789", stream_bytes_max=4, stream_head_bytes=1)

    assert agent.output(ended) == (b"0789", b"", 6)


@pytest.mark.heavy
def test_one_gigabyte_takes_little_memory_and_disk(plain_spawner: SpawnerProcess) -> None:
    agent = plain_spawner.connect()
    agent.run("true")
    before_kib = plain_spawner.memory_kib()

    ended = agent.run("sh", "-c", "yes | head -c 1000000000; echo end", job_id=2)

    disk = sum(path.stat().st_blocks * 512 for path in plain_spawner.logs.rglob("*"))
    out, _, left_out = agent.output(ended)
    assert ended.exit_code == 0
    assert len(out) + left_out == ended.stdout_bytes == 1_000_000_004
    assert len(out) == 64 * _MIB
    assert out.endswith(b"y\nend\n")
    assert disk < 80 * _MIB
    assert plain_spawner.memory_kib() < before_kib + 4096
    assert len(list(plain_spawner.logs.rglob("2.1*"))) < 20
    agent.close()


def test_closed_stdout_does_not_end_the_job(agent: Agent) -> None:
    ended = agent.run("sh", "-c", "echo a; exec >&-; sleep 0.05; echo b >&2")

    assert ended.exit_code == 0
    assert agent.output(ended)[:2] == (b"a\n", b"b\n")


def test_both_streams_closed_and_no_busy_loop(agent: Agent, spawner: SpawnerProcess) -> None:
    before = _cpu_ticks(spawner.pid)
    ended = agent.run("sh", "-c", "exec >&- 2>&-; sleep 0.5")

    assert ended.exit_code == 0
    assert _cpu_ticks(spawner.pid) - before < 10


def _cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.fixture
def small_disk(short_path: Path) -> Iterator[Path]:
    """Return a file system of one MiB."""
    with contexts.small_disk(short_path / "disk", "1m") as disk:
        yield disk


def test_full_disk_ends_the_job_not_the_spawner(short_path: Path, small_disk: Path) -> None:
    spawner = SpawnerProcess(short_path, logs=small_disk / "logs")
    agent = spawner.connect()
    assert agent.output(agent.run("echo", "before"))[0] == b"before\n"

    long = agent.run("sh", "-c", "yes | head -c 10000000; sleep 60", job_id=2)

    assert (long.failure, long.exit_code) == (Reason.DISK, None)
    assert "No space left" in long.message
    for path in (small_disk / "logs" / "attempts").rglob("*.1"):
        path.write_bytes(path.read_bytes()[:1000])
    contexts.fill_disk(small_disk / "full")
    short = agent.run("sh", "-c", "head -c 30000 /dev/zero", job_id=3)
    assert (short.failure, short.exit_code) == (Reason.DISK, None)
    assert agent.run("true", job_id=4).exit_code == 0
    (small_disk / "full").unlink()
    after = agent.run("echo", "after", job_id=5)
    assert (after.failure, agent.output(after)[0]) == (None, b"after\n")
    agent.close()
    spawner.stop()


def test_merged_streams_are_in_the_order_in_which_they_were_written(agent: Agent) -> None:
    """And the error that they end with is found there."""
    script = "for i in $(seq 200); do echo out $i; echo err $i >&2; done; echo broken >&2; exit 3"
    agent.start(process(1, "sh", "-c", script, merged=True))
    ended = agent.until_ended(1)
    stdout, stderr, _ = agent.output(ended)

    lines = [f"{stream} {i}" for i in range(1, 201) for stream in ("out", "err")]
    assert stdout.decode().splitlines() == [*lines, "broken"]
    assert (stderr, ended.stderr_bytes) == (b"", 0)
    assert ended.message == "broken"


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
