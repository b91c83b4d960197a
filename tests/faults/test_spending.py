"""A billing project with a thousand running jobs reaches its limit: what that costs beyond it."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from faults.conftest import Facts
from faults.siege import Siege, besieged
from faults.waiting import until
from up.weft_up import run_weft, temporary_home

pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.timeout(600)]
SLEEPS = int(os.environ.get("FAULT_SLEEPS", "150"))
"""The number for which the limit is promised is 1,000."""
TICK_S = 5
COST_PER_S = 1.0
"""Of all sleeps together."""
LIMIT_S = 15
"""After this time their project reaches its limit."""
FAR = 1_000_000.0
"""A limit that nothing here reaches."""


@pytest.fixture(name="busy")
def sleeps_that_run(recorded: Facts) -> Iterator[tuple[Siege, int]]:
    """Give a weft in which all sleeps run, and their batch."""
    with (
        temporary_home() as home,
        besieged(home, recorded=recorded, WEFT_SPENDING_INTERVAL_S=str(TICK_S)) as siege,
    ):
        price = COST_PER_S * 3600 / (SLEEPS / 1000)
        weft(siege, "billing", "set-rates", "--cpu", f"{price}", "--memory", "0")
        file = home.parent / "sleeps.json"
        each = {"command": ["sleep", "600"], "resources": {"cpu": 0.001, "memory": "1Mi"}}
        file.write_text(json.dumps({"jobs": [{**each, "count": SLEEPS}]}))
        batch: int = weft(siege, "submit", str(file))["id"]
        until(lambda: n_running(siege, batch) == SLEEPS, "all run", explain=siege.tail)
        yield siege, batch
        siege.kill_everything()


def weft(siege: Siege, *words: str) -> Any:  # noqa: ANN401 (any document)
    done = run_weft(*words, "--home", str(siege.home), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def n_running(siege: Siege, batch: int) -> int:
    return int(siege.ask(f"/v1/batches/{batch}")["n_running"])


def project(siege: Siege) -> Any:  # noqa: ANN401 (a document)
    return siege.ask("/v1/billing-projects/default")


def set_limit(siege: Siege) -> float:
    """Limit the project to what it has spent and some seconds more; return the limit. The cost
    that is shown is that of the last heartbeat; only a forecast knows what was spent by now.
    """
    shown = weft(siege, "billing", "project", "limit", "default", str(FAR))
    assert shown["cost_per_hour"] == pytest.approx(3600 * COST_PER_S)
    spent = FAR - shown["limit_in_s"] * COST_PER_S
    limit = float(round(spent + LIMIT_S * COST_PER_S))
    weft(siege, "billing", "project", "limit", "default", str(limit))
    return limit


def prove_paused(siege: Siege, batch: int, limit: float) -> None:
    """Prove that all stopped in time, that nothing starts, and that the books are right."""
    until(lambda: n_running(siege, batch) == 0, "all have stopped", explain=siege.tail)
    found = project(siege)
    siege.recorded.update(jobs=SLEEPS, note=f"cost {found['cost']:.2f} of {limit:.2f}")
    assert found["limit_state"] == "paused"
    assert limit - 2 * TICK_S * COST_PER_S < found["cost"] <= limit + TICK_S * COST_PER_S
    assert siege.ask(f"/v1/batches/{batch}")["n_ready"] == SLEEPS
    later: int = weft(siege, "submit", str(siege.home.parent / "sleeps.json"))["id"]
    (cause, *_) = weft(siege, "why", f"b{later}")["causes"]
    weft(siege, "audit")
    assert (cause["kind"], n_running(siege, later), n_running(siege, batch)) == ("limit", 0, 0)
    weft(siege, "cancel", f"b{later}")


def test_overrun_is_at_most_a_tick_and_nothing_starts(busy: tuple[Siege, int]) -> None:
    siege, batch = busy
    limit = set_limit(siege)
    siege.weft.until("limit.reached")
    prove_paused(siege, batch, limit)
    weft(siege, "billing", "project", "limit", "default", str(limit * 10))
    until(lambda: n_running(siege, batch) == SLEEPS, "all run again", explain=siege.tail)


def test_driver_that_is_killed_while_it_pauses(busy: tuple[Siege, int]) -> None:
    """The next one goes on, wherever that was."""
    siege, batch = busy
    leader = siege.weft.until_seen("driver.state_changed", state="leader")["role"]
    limit = set_limit(siege)
    siege.weft.until("limit.reached")
    siege.kill(leader)
    prove_paused(siege, batch, limit + 10 * COST_PER_S)
