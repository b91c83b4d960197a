"""Two drivers: one leads, and whatever becomes of it, the other leads soon after."""

import time
from collections.abc import Iterator

import pytest

from faults.books import query
from faults.conftest import Facts
from faults.siege import Batch, Siege, besieged
from up.weft_up import temporary_home

JOBS = 1500
RARELY = {"WEFT_DRIVERS": "2", "WEFT_HEARTBEAT_S": "60", "WEFT_LOST_AFTER_S": "600"}
"""So rarely that the supervisor does not end a sleeper before it wakes."""
END_LOCK_HOLDER = (
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7702"
)


@pytest.fixture(name="pair")
def two_drivers(recorded: Facts) -> Iterator[tuple[Siege, str, Batch]]:
    """Give a weft with two drivers, the name of the one that leads, and work that goes on."""
    with temporary_home() as home, besieged(home, recorded=recorded, **RARELY) as siege:
        # Ready is who has a file; what it logs before may be shown later.
        leader = siege.weft.until_seen("driver.state_changed", state="leader")["role"]
        evidence = siege.evidence()
        batch = siege.submit(evidence, evidence.mix(JOBS, seed=3))
        siege.until_ran(batch, 0.1)
        yield siege, leader, batch


def test_leader_killed(pair: tuple[Siege, str, Batch]) -> None:
    siege, leader, batch = pair
    killed_at = siege.kill(leader)
    successor = siege.weft.until("driver.state_changed", state="leader")
    siege.note_recovery(killed_at)

    assert successor["role"] != leader
    siege.until_complete(batch)
    siege.prove(batch)


def test_sleeping_leader_is_refused_when_it_wakes(pair: tuple[Siege, str, Batch]) -> None:
    """Its lock ends with its connection, as after a break of the network; then it wakes."""
    siege, leader, batch = pair
    sleeper = siege.weft.pid(leader)
    siege.put_to_sleep([sleeper])
    asleep_at = time.monotonic()
    query(siege.home, END_LOCK_HOLDER)
    successor = siege.weft.until("driver.state_changed", state="leader")
    siege.note_recovery(asleep_at)
    siege.wake([sleeper])
    siege.weft.until("driver.lead_lost", role=leader)
    siege.weft.until("driver.state_changed", state="standby", role=leader)

    assert successor["role"] != leader
    assert siege.weft.pid(leader) == sleeper
    siege.until_complete(batch)
    siege.prove(batch)
