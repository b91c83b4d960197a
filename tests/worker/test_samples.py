"""Samples of what attempts use: taken while they run, thinned, and none of short ones."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from weft.core.states import Reason
from weft.plugins.log_stores.files.growth import Watches
from weft.wire.usage_format import UsageSample, decode_samples
from worker.spawner_process import DEADLINE_S, SpawnerProcess, process

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
