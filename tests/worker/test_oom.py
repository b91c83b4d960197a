"""Processes that the kernel kills because memory is used up, and those that it does not."""

import signal
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.core.states import Reason
from weft.plugins.runners.spawner import reason_of
from weft.worker.spawner.cgroups import OomKills
from worker.spawner_process import Agent, key_of, process

MEMORY = Path("/sys/fs/cgroup/memory")
SECOND_NS = 1_000_000_000
EAT = "import sys; held = bytearray(200 << 20); sys.exit(7)"


@pytest.fixture
def small() -> Iterator[Path]:
    """Return a cgroup of 32 MiB; only root may make one."""
    root, limit = (MEMORY, "memory.limit_in_bytes") if MEMORY.exists() else (
        Path("/sys/fs/cgroup"), "memory.max"
    )  # fmt: skip
    try:
        group = Path(tempfile.mkdtemp(prefix="weft-test-", dir=root))
    except OSError:
        pytest.skip("no cgroup can be made here: that needs root")
    try:
        try:
            (group / limit).write_text(str(32 << 20))
        except OSError:
            pytest.skip("cgroups have no limit of memory here")
        yield group
    finally:
        group.rmdir()


def in_group(group: Path, then: str) -> tuple[str, ...]:
    """Return a command that runs another one in a cgroup."""
    return ("sh", "-c", f'echo $$ > {group}/cgroup.procs; {then} {sys.executable} -c "$0"', EAT)


@pytest.mark.heavy  # others take their kills for those of the kernel
def test_process_that_takes_too_much_memory_ends_as_oom(agent: Agent, small: Path) -> None:
    ended = agent.run(*in_group(small, "exec"))

    assert (ended.signal, reason_of(ended)) == (signal.SIGKILL, Reason.OOM)
    assert "memory" in ended.message


@pytest.mark.heavy  # others take their kills for those of the kernel
def test_shell_that_says_so_of_its_command_ends_as_oom(agent: Agent, small: Path) -> None:
    """The shell lives on and ends with 137: so do jobs that are scripts."""
    command, flag, script, eat = in_group(small, "")
    ended = agent.run(command, flag, f"{script}; exit $?", eat)

    assert (ended.exit_code, reason_of(ended)) == (137, Reason.OOM)


def test_kill_from_outside_is_a_signal(agent: Agent) -> None:
    agent.start(process(1, "sleep", "60"))
    started = agent.until_started(1)
    assert started.key == key_of(1)
    ended = agent.run("sh", "-c", "kill -9 $$", job_id=2)
    said = agent.run("sh", "-c", "exit 137", job_id=3)
    agent.kill(1, reason=Reason.CANCELLED)

    assert (ended.signal, reason_of(ended)) == (signal.SIGKILL, Reason.SIGNAL)
    assert (said.exit_code, reason_of(said)) == (137, Reason.EXIT)
    assert reason_of(agent.until_ended(1)) == Reason.CANCELLED


class Kernel:
    """Counts as told: the answers, in turn."""

    def __init__(self, *counts: int) -> None:
        self.counts = deque(counts)

    def __call__(self) -> int:
        return self.counts.popleft()


def test_each_kill_is_matched_with_one_process() -> None:
    kills = OomKills(Kernel(5, 7, 7, 7))

    assert [kills.take_one(now_ns) for now_ns in (0, 1, 2)] == [True, True, False]


def test_kill_of_somebody_else_is_forgotten() -> None:
    kills = OomKills(Kernel(5, 7, 7, 8))

    assert kills.take_one(0)
    assert not kills.take_one(SECOND_NS)
    assert kills.take_one(2 * SECOND_NS)


def test_kill_before_the_spawner_is_none_of_its() -> None:
    assert not OomKills(Kernel(5, 5)).take_one(0)
