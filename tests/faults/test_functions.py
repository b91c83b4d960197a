"""kill -9 of one part during hundreds of calls of functions."""

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from typing import Any

import cloudpickle
import pytest

import weft
from faults.conftest import Facts
from faults.siege import Siege, besieged
from faults.waiting import until
from up.weft_up import prove_audit, temporary_home
from weft.core.errors import Unavailable
from worker.spawner_process import marked

cloudpickle.register_pickle_by_value(sys.modules[__name__])
CALLS = 500
SHARES = (0.1, 0.4, 0.7)
WITHIN_S = 120


@pytest.fixture(scope="module")
def functions() -> Iterator[Siege]:
    """Give one weft for all parts."""
    with temporary_home() as home, besieged(home, WEFT_WARM_IDLE_S="1") as siege:
        yield siege


def work(number: int) -> tuple[int, int]:
    """Take a few milliseconds."""
    threading.Event().wait(0.02)
    return number * number, os.getpid()


def wait_for_ever() -> None:
    threading.Event().wait()


def until_returned(futures: Sequence[Future[Any]], share: float) -> None:
    until(
        lambda: sum(future.done() for future in futures) >= share * len(futures),
        f"{share:.0%} of the calls have returned",
    )


@pytest.mark.parametrize("part", ["agent", "spawner", "api", "postgres"])
def test_killed_while_functions_are_called(functions: Siege, part: str, recorded: Facts) -> None:
    siege = functions
    siege.recorded = recorded
    mark = f"functions-{part}-{os.getpid()}"
    with weft.Executor(
        name=part, home=siege.home, env={"MARK": mark}, resources={"cpu": 0.5, "memory": "32Mi"}
    ) as executor:
        futures = [executor.submit(work, number) for number in range(CALLS)]
        for share in SHARES:
            until_returned(futures, share)
            siege.strike(part)
        for _ in as_completed(futures, WITHIN_S):
            pass
        values = [future.result() for future in futures]

    recorded["jobs"] = CALLS
    assert [value for value, _ in values] == [number * number for number in range(CALLS)]
    until(lambda: not marked(mark), "no warm process is left", explain=lambda: marked(mark))
    prove_audit(siege.home)


def test_a_killed_weft_goes_on_with_what_was_called(recorded: Facts) -> None:
    """The client waits for the next server, and its calls are not made twice for it."""
    with temporary_home() as home, besieged(home, recorded=recorded) as siege:
        resources = {"cpu": 0.5, "memory": "32Mi"}
        with weft.Executor(home=home, resources=resources) as executor:
            futures = [executor.submit(work, number) for number in range(CALLS)]
            until_returned(futures, 0.25)
            siege.strike("everything")
            values = [future.result(WITHIN_S)[0] for future in futures]

        assert values == [number * number for number in range(CALLS)]
        prove_audit(home)


def test_without_a_server_futures_fail_when_patience_ends(recorded: Facts) -> None:
    with temporary_home() as home, besieged(home, recorded=recorded) as siege:
        executor = weft.Executor(home=home, patience_s=2)
        future = executor.submit(wait_for_ever)
        until(future.running, "it runs")
        siege.kill_everything()

        with pytest.raises(Unavailable):
            future.result(WITHIN_S)
        with pytest.raises(Unavailable):
            executor.submit(work, 1).result(WITHIN_S)
        executor.shutdown()
        siege.start_again()
