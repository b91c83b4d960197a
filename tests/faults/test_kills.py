"""kill -9 of one part, and of all of them, during thousands of short jobs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.conftest import Facts
from faults.siege import JOBS, SEED, Siege, besieged
from faults.waiting import until
from up.weft_up import kill, temporary_home

PARTS = ("agent", "spawner", "driver", "api", "postgres")
MOMENTS = {"early": (0.03,), "middle": (0.5,), "repeated": (0.15, 0.35, 0.55, 0.75)}
"""When it is killed: after which shares of the jobs."""


@pytest.fixture(scope="module", params=PARTS)
def attacked(request: pytest.FixtureRequest) -> Iterator[tuple[str, Siege]]:
    """Give one weft for all moments of one part: it must survive them one after the other."""
    with temporary_home() as home, besieged(home) as siege:
        yield request.param, siege


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed(attacked: tuple[str, Siege], moment: str, recorded: Facts) -> None:
    part, siege = attacked
    siege.recorded = recorded
    strike_at(moment, siege, part, JOBS // len(MOMENTS))


@pytest.mark.parametrize("moment", ["early", "repeated"])
def test_everything_killed(siege: Siege, moment: str) -> None:
    strike_at(moment, siege, "everything", JOBS // 2)


def test_spawner_killed_without_a_namespace_of_its_own(recorded: Facts) -> None:
    """What it leaves behind lives on, until the next agent has found and killed it."""
    with temporary_home() as home, besieged(home, recorded=recorded, PATH="/nowhere") as siege:
        evidence = siege.evidence()
        gate = home.parent / "gate"
        batch = siege.submit(evidence, [evidence.gated(gate) for _ in range(8)])
        until(lambda: evidence.count == 8, "all run", explain=siege.tail)
        killed_at = siege.strike("spawner")
        until(lambda: evidence.count == 16, "all run again", explain=siege.tail)
        siege.note_recovery(killed_at)
        gate.touch()
        siege.until_complete(batch)

        siege.prove(batch, may_lose=True)


def test_worker_killed_as_a_whole_runs_nothing_again_that_had_ended(siege: Siege) -> None:
    """Its agent had heard of none of these ends. The next one finds them on the disk."""
    evidence = siege.evidence()
    gate = siege.home.parent / "gate"
    batch = siege.submit(evidence, [evidence.gated(gate) for _ in range(8)])
    until(lambda: evidence.count == 8, "all run", explain=siege.tail)
    siege.put_to_sleep([siege.weft.pid("worker")])
    gate.touch()
    spawner = Path(f"/proc/{siege.spawner_pid()}")
    until(
        lambda: not evidence.processes() and b") S " in (spawner / "stat").read_bytes(),
        "all have ended, and the spawner waits",
        explain=siege.tail,
    )
    kill([int(spawner.name), siege.weft.pid("worker")])
    siege.until_complete(batch)
    books = siege.prove(batch)

    assert evidence.doubled() == books.n_lost == 0


def strike_at(moment: str, siege: Siege, part: str, count: int) -> None:
    """Kill a part while short jobs of all kinds run, and prove that each succeeds."""
    evidence = siege.evidence()
    batch = siege.submit(evidence, evidence.mix(count, SEED))
    for share in MOMENTS[moment]:
        siege.until_ran(batch, share)
        killed_at = siege.strike(part)
        siege.until_work_goes_on(batch, killed_at)
    siege.until_complete(batch)
    siege.prove(batch, may_lose=part in {"spawner", "everything"})
