"""What comes while a process is being started."""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from weft.core.states import Reason
from weft.wire.spawner import Withdraw
from worker.spawner_process import SpawnerProcess, key_of, process

HELD = str(Path(__file__).with_name("held_spawner.py"))


@pytest.fixture
def go(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Let starts go on; until then they wait."""
    with (tmp_path / "gate").open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield lambda: fcntl.flock(gate, fcntl.LOCK_UN)


@pytest.fixture
def held(tmp_path: Path, go: Callable[[], None]) -> Iterator[SpawnerProcess]:
    spawner = SpawnerProcess(tmp_path, program=(HELD,))
    yield spawner
    go()
    spawner.stop()


def test_kill(held: SpawnerProcess, go: Callable[[], None]) -> None:
    agent = held.connect()
    agent.start(process(1, "sleep", "60"), process(2, cpu_m=1))
    agent.until_ended(2)  # so the first has left the queue
    agent.kill(1, reason=Reason.CANCELLED, grace_ms=0)
    agent.start(process(3, cpu_m=1))
    agent.until_ended(3)
    go()
    ended = agent.until_ended(1)

    assert (ended.killed_for, ended.exit_code) == (Reason.CANCELLED, None)


def test_kill_of_one_that_cannot_be_started(held: SpawnerProcess, go: Callable[[], None]) -> None:
    agent = held.connect()
    agent.start(process(1, "/nothing/here"), process(2, cpu_m=1))
    agent.until_ended(2)
    agent.kill(1, reason=Reason.CANCELLED, grace_ms=0)
    agent.start(process(3, cpu_m=1))
    agent.until_ended(3)
    go()

    assert agent.until_ended(1).killed_for == Reason.CANCELLED


def test_agent_that_comes_back_is_told_of_it(held: SpawnerProcess, go: Callable[[], None]) -> None:
    first = held.connect()
    first.start(process(1, "sleep", "60"), process(2, cpu_m=1))
    first.until_ended(2)
    threading.Timer(0.3, go).start()
    second = held.connect()

    assert [one.key for one in second.welcome.live] == [key_of(1)]


def test_spawner_that_ends_leaves_nothing(held: SpawnerProcess, go: Callable[[], None]) -> None:
    agent = held.connect()
    agent.start(process(1, "sleep", "60"), process(2, cpu_m=1))
    agent.until_ended(2)
    threading.Timer(0.3, go).start()
    held.stop()

    assert held.process.returncode == 0


def test_what_was_prepared_is_undone_when_it_is_taken_back(tmp_path: Path) -> None:
    spawner = SpawnerProcess(tmp_path)
    try:
        agent = spawner.connect(cpu_m=1000)
        agent.start(process(1, "sleep", "60"))
        agent.until_started(1)
        before = open_files(spawner)
        jobs = range(2, 12)
        agent.start(*(process(job_id, "cat", stdin="x" * 100) for job_id in jobs))
        spawner.connect(cpu_m=1000)
        agent = spawner.connect(cpu_m=1000)  # two turns of its loop: some are prepared now
        prepared = open_files(spawner)
        agent.send(Withdraw([*map(key_of, jobs)]))
        agent.until_withdrawn(len(jobs))

        assert before < prepared
        assert open_files(spawner) == before
    finally:
        spawner.stop()


def open_files(spawner: SpawnerProcess) -> int:
    return len(list(Path(f"/proc/{spawner.pid}/fd").iterdir()))


def umasks_of(program: Sequence[str], tmp_path: Path, masks: Sequence[int | None]) -> list[int]:
    """Start processes with these umasks at the same time; return the umask each of them had."""
    spawner = SpawnerProcess(tmp_path, program=tuple(program))
    try:
        agent = spawner.connect(cpu_m=64_000)
        files = {n: tmp_path / f"umask-{n}" for n in range(1, len(masks) + 1)}
        agent.start(
            *(
                process(n, "/bin/sh", "-c", f"umask > {file}", cpu_m=100, umask=mask)
                for (n, file), mask in zip(files.items(), masks, strict=True)
            )
        )
        for n in files:
            agent.until_ended(n)
        return [int(file.read_text(), 8) for file in files.values()]
    finally:
        spawner.stop()


@pytest.mark.parametrize("program", ["threads_spawner.py", "shared_umask_spawner.py"])
def test_each_process_has_its_own_umask(tmp_path: Path, program: str) -> None:
    masks = [0o077, None, 0o007, 0o022, None] * 8
    ours = os.umask(0o022)
    os.umask(ours)

    found = umasks_of((str(Path(__file__).with_name(program)),), tmp_path, masks)

    assert found == [ours if mask is None else mask for mask in masks]
