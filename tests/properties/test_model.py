"""The SQL core beside its model: any order of calls, after each of which both must agree.

Each machine has the rules of some subjects, so that each of them comes often enough in few steps;
the last one has all that can be mixed, and is in `make test`. `MODEL_EXAMPLES=500 pytest
tests/properties` looks longer, with new random choices each time.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from properties.core_machine import Machine
from properties.drawn_jobs import Feature
from store.backend import open_backend

EXAMPLES = int(os.environ.get("MODEL_EXAMPLES", "0"))
STEPS = 40


def rules(*names: str, n: int = 1) -> dict[str, int]:
    """Return rules with how often each comes, in comparison with others."""
    return dict.fromkeys(names, n)


WORK = rules("complete", n=6) | rules("claim", "start", n=4) | rules("fill_update", "sleep", n=2)
LIVES = rules(
    "report_again",
    "steal",
    "beat",
    "lose",
    "add_members",
    "cancel_jobs",
    "cancel_group",
    "sweep",
    "fold",
    "delete_batch",
    "remove",
    "operate",
    "finish_drain",
    "prioritize_job",
    "prioritize_group",
    "go_on_with_priorities",
) | rules("commit_update", "end_what_ran", n=4)
WAITS = rules(
    "hold_group",
    "hold_jobs",
    "park",
    "limit",
    "limit_queue",
    "set_licence",
    "open_gates",
    "pass_gates",
    "settle_gates",
    "move_jobs",
    "keep",
    "claim_kept",
    "lose",
    "cancel_group",
    "close_queue",
    "delete_queue",
) | rules("fail_all", n=3)
STOPPING = rules("come_to_deadlines", "look_at_deadlines", "preempt", "limit_project", "admit")
RECOVERY = rules(
    "release_blocked",
    "release_condition",
    "fail_condition",
    "unblock_job",
    "cancel_group",
    "cancel_jobs",
    "resubmit",
) | rules("block", "test_condition", "retry", "fail_all", n=3)
MONITORED = (
    rules("lose", "release_blocked", "cancel_group", "cancel_jobs", "sweep")
    | rules("look_at_limits", "beat", "beat_in_part", "report_again", "retry", n=3)
    | rules("confirm", "hang", n=4)
)
COMMANDS = rules("hide", "lose", "cancel_jobs", "cancel_group", "retry") | rules(
    "signal", "message", "extend", "hear", n=4
)


class Lives(Machine):
    """Submission, work, cancels, sets, deletions, priorities."""

    rule_weights = WORK | LIVES
    features = frozenset[Feature]()


class Waits(Machine):
    """Gates, holds, limits, deadlines, preemption."""

    rule_weights = WORK | WAITS | STOPPING
    features = frozenset({Feature.GATES, Feature.STOPS})


class Recovery(Machine):
    """Blocked jobs, conditions, limits of failures, retries and copies of batches."""

    rule_weights = WORK | RECOVERY
    features = frozenset({Feature.MORE, Feature.LIMITS})


class Monitored(Machine):
    """Attempts that take too long, or that their workers do not name."""

    rule_weights = WORK | MONITORED
    features = frozenset({Feature.MONITOR, Feature.MORE})


class Told(Machine):
    """Signals, messages and longer time limits."""

    rule_weights = WORK | COMMANDS
    features = frozenset[Feature]()


class Mixed(Machine):
    """All that the model can mix: not copies of gates and deadlines, nor their stops."""

    rule_weights = LIVES | WAITS | STOPPING | RECOVERY | COMMANDS | WORK
    rule_weights.pop("resubmit")
    features = frozenset({Feature.GATES, Feature.STOPS})


MACHINES = {Lives: 6, Waits: 7, Recovery: 5, Monitored: 6, Told: 5}
"""With how many examples each runs, beside `Mixed`."""


@pytest.fixture
def machine(database: dict[str, str], request: pytest.FixtureRequest) -> Iterator[type[Machine]]:
    """Give a machine on a database of its own."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        backend = runner.run(stack.enter_async_context(open_backend(database)))
        yield type(
            request.param.__name__, (request.param,), {"runner": runner, "backend": backend}
        )
        runner.run(stack.aclose())


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("machine", "examples"),
    [(Mixed, 3), *(pytest.param(*one, marks=pytest.mark.heavy) for one in MACHINES.items())],
    indirect=["machine"],
    ids=["Mixed", *(one.__name__ for one in MACHINES)],
)
def test_core_does_what_its_model_does(machine: type[Machine], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES or examples,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=not EXAMPLES,
            database=None,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink) if EXAMPLES else (Phase.generate,),
        ),
    )
    if not EXAMPLES and machine.__base__ is not Mixed:
        assert machine.rule_weights.keys() - machine.counts.keys() == set()
