"""What attempts use: samples of it, and what the kernel kills because memory is used up."""

import asyncio
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from weft.core.states import Reason
from weft.plugins.log_stores.files.store import Watches
from weft.plugins.runners.spawner import reason_of
from weft.wire.usage_format import UsageSample, decode_samples
from weft.worker.spawner.cgroups import OomKills
from weft_siege.memory import small_cgroup
from worker.spawner_process import DEADLINE_S, Agent, SpawnerProcess, key_of, process

SECOND_NS = 1_000_000_000
EAT = "import sys; held = bytearray(200 << 20); sys.exit(7)"


@pytest.fixture
def small() -> Iterator[Path]:
    """Return a cgroup of 32 MiB; only root may make one."""
    with small_cgroup() as group:
        if group is None:
            pytest.skip("no cgroup that limits memory can be made here: that needs root")
        yield group
    assert not group.exists()


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
    started = agent.begin(process(1, "sleep", "60"))
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


PERIOD_MS = 20
_BUSY = "import time; x = bytearray(32 << 20)\nwhile time.process_time() < 0.2: pass\nprint()"


def path_of(spawner: SpawnerProcess) -> Path:
    return spawner.logs / "attempts" / "b1" / "0" / "1.1.usage"


async def until(
    spawner: SpawnerProcess, is_so: Callable[[Sequence[UsageSample]], bool]
) -> list[UsageSample]:
    """Wait until that is so of the samples of the first job."""
    path, watches = path_of(spawner), Watches()
    with watches.following(path) as grown:
        async with asyncio.timeout(DEADLINE_S):
            while True:
                grown.begin()
                found = decode_samples(path.read_bytes()) if path.exists() else []
                if is_so(found):
                    return found
                await grown.changed()


async def test_children_count_and_time_never_goes_back(spawner: SpawnerProcess) -> None:
    """One child has ended and was not waited for, another one holds memory."""
    agent = spawner.connect(sample_ms=PERIOD_MS)
    one = f"python3 -c '{_BUSY}'"
    agent.start(process(1, "sh", "-c", f"{one} & {one} && sleep 600"))
    samples = await until(spawner, lambda found: bool(found) and found[-1].cpu_ms >= 350)
    agent.kill(1, reason=Reason.CANCELLED, grace_ms=0)
    agent.until_ended(1)

    assert max(one.memory_bytes for one in samples) > 32 << 20
    assert [one.cpu_ms for one in samples] == sorted(one.cpu_ms for one in samples)
    assert all(a.at_ms < b.at_ms for a, b in pairwise(samples))
    assert path_of(spawner).stat().st_mode & 0o77 == 0


async def test_samples_of_a_long_attempt_get_rarer(plain_spawner: SpawnerProcess) -> None:
    agent = plain_spawner.connect(sample_ms=PERIOD_MS, samples_max=8)
    agent.start(process(1, "sleep", "600"))
    counts: set[int] = set()

    def is_thin(found: Sequence[UsageSample]) -> bool:
        counts.add(len(found))
        return bool(found) and found[0].at_ms > 3 * PERIOD_MS

    found = await until(plain_spawner, is_thin)
    agent.kill(1, reason=Reason.CANCELLED, grace_ms=0)
    agent.until_ended(1)

    assert max(counts) <= 8
    assert min(b.at_ms - a.at_ms for a, b in pairwise(found)) >= 2 * PERIOD_MS - 1


@pytest.mark.parametrize("period_ms", [0, 60_000])
def test_short_attempts_have_none(plain_spawner: SpawnerProcess, period_ms: int) -> None:
    agent = plain_spawner.connect(sample_ms=period_ms)
    agent.run("sleep", "0.1")

    assert not (plain_spawner.logs / "attempts").exists()
